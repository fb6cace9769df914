// A file name made from content, in the form of torch's code cache: c + 51 base-32 characters, in a folder of its first
// two. In: text. Out: the same name for the same text. Not cryptographic: it only has to look and behave like a key.

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

export function contentName(text: string): { readonly folder: string; readonly file: string } {
  let name = "c";
  // eleven independent 32-bit hashes give 51 characters
  for (let seed = 1; name.length < 52; seed++) {
    let h = hash32(text, seed);
    for (let i = 0; i < 6 && name.length < 52; i++) {
      name += ALPHABET[h & 31];
      h >>>= 5;
    }
  }
  return { folder: name.slice(1, 3), file: `${name}.py` };
}

function hash32(text: string, seed: number): number {
  let h = Math.imul(seed, 0x9e3779b1) ^ 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h ^= text.charCodeAt(i);
    h = Math.imul(h, 0x01000193);
    h ^= h >>> 13;
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  return (h ^ (h >>> 13)) >>> 0;
}
