// What re finds and puts in its place: the expected texts are Python 3.11's own.
import { expect, test } from "vitest";
import { analysed, printed } from "../infer/testing/analysed";

const shown = (text: string): string => printed(analysed(`import re\n${text}`)).trimEnd();

test.each([
  ["re.search('x', 'aX', re.I).start(), re.compile('x', flags=re.I).search('aX').span()", "1 (1, 2)"],
  ["re.match('(?i)ab', 'AB').group(), re.match('a.c', 'a\\nc'), re.match('a.c', 'a\\nc', re.S).end()", "AB None 3"],
  [
    "re.findall('^b', 'a\\nb', re.M), re.findall('^b', 'a\\nb'), re.findall('b$', 'b\\na', flags=re.M)",
    "['b'] [] ['b']",
  ],
  ["re.match(r' (\\d+) # a number', '12', re.X).group(1)", "12"],
])("flags count: %s", (call, text) => {
  expect(shown(`print(${call})`)).toBe(text);
});

test.each([
  ["re.sub('a', r'<\\g<0>>', 'banana', count=2), re.subn('a', 'b', 'aa')", "b<a>n<a>na ('bb', 2)"],
  ["re.sub(r'(?P<w>\\w+) (\\w+)', r'\\2 \\g<w>', 'hi you')", "you hi"],
  ["re.sub(r'(?P<n>\\d+)', lambda m: str(int(m['n']) * 2), 'x5y10')", "x10y20"],
])("matches are replaced: %s", (call, text) => {
  expect(shown(`print(${call})`)).toBe(text);
});

test.each([
  ["re.split(r'(-)', 'a-b-c', maxsplit=1), re.split('x*', 'axb')", "['a', '-', 'b-c'] ['', 'a', '', 'b', '']"],
  [
    "re.findall(r'(\\w)(\\d)?', 'a1 b'), [m.span() for m in re.finditer('a+', 'aabaa')]",
    "[('a', '1'), ('b', '')] [(0, 2), (3, 5)]",
  ],
  ["re.fullmatch('a|ab', 'ab').group(), re.fullmatch('a', 'a\\n'), bool(re.match('a$', 'a\\n'))", "ab None True"],
  ["re.match('[]a]+', 'a]').group(), re.match('a{,2}', 'aaa').group(), re.search(r'\\Aab\\Z', 'ab').end()", "a] aa 2"],
])("texts are taken apart: %s", (call, text) => {
  expect(shown(`print(${call})`)).toBe(text);
});

test("a match knows its groups and where they are", () => {
  expect(
    shown(`m = re.match(r'(?P<a>x)(y)?(z)', 'xz')
print(m.groups(), m.groups('-'), m.group('a', 3), m.span(2), m.span('a'), m[3], m.groupdict())
try:
    m.group(9)
except IndexError as e:
    print(e)
try:
    re.compile('(')
except re.error:
    print('no pattern')`),
  ).toBe("('x', None, 'z') ('x', '-', 'z') ('x', 'z') (-1, -1) (0, 1) z {'a': 'x'}\nno such group\nno pattern");
});
