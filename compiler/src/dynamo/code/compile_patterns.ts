// `match` to instructions. Every value that a pattern looks at is kept in a slot of its own, so that a failing pattern
// jumps away with the stack as it was.
import type * as ast from "../../python/ast";
import { constant, expression } from "./compile_expressions";
import { Label, type Unit } from "./unit";

/** `slot` holds the value; falls through on a match */
export function pattern(u: Unit, p: ast.Pattern, slot: number, fail: Label): void {
  const outer = u.at;
  u.at = { span: p.span };
  const load = (s: number): void => {
    u.emit("LOAD_FAST", s, u.code.varnames[s]);
  };
  const element = (q: ast.Pattern, push: () => void): void => {
    if (q.kind === "MatchAs" && q.pattern === null && q.name === null) return;
    const inner = u.temporary(".match");
    push();
    u.emit("STORE_FAST", inner, ".match");
    pattern(u, q, inner, fail);
  };
  switch (p.kind) {
    case "MatchValue":
      load(slot);
      expression(u, p.value);
      u.emit("COMPARE_OP", 0, "==");
      u.jump("POP_JUMP_IF_FALSE", fail);
      break;
    case "MatchSingleton":
      load(slot);
      u.emit("LOAD_CONST", 0, p.value);
      u.emit("COMPARE_OP", 0, "is");
      u.jump("POP_JUMP_IF_FALSE", fail);
      break;
    case "MatchAs":
      if (p.pattern) pattern(u, p.pattern, slot, fail);
      if (p.name) {
        load(slot);
        u.store(p.name);
      }
      break;
    case "MatchOr": {
      const done = new Label();
      p.patterns.forEach((q, i) => {
        if (i === p.patterns.length - 1) {
          pattern(u, q, slot, fail);
          return;
        }
        const next = new Label();
        pattern(u, q, slot, next);
        u.jump("JUMP", done);
        u.mark(next);
      });
      u.mark(done);
      break;
    }
    case "MatchStar":
      if (p.name) {
        load(slot);
        u.store(p.name);
      }
      break;
    case "MatchSequence": {
      const star = p.patterns.findIndex(q => q.kind === "MatchStar");
      load(slot);
      u.emit("MATCH_SEQUENCE");
      u.jump("POP_JUMP_IF_FALSE", fail);
      load(slot);
      u.emit("GET_LEN");
      u.emit("LOAD_CONST", 0, star < 0 ? p.patterns.length : p.patterns.length - 1);
      u.emit("COMPARE_OP", 0, star < 0 ? "==" : ">=");
      u.jump("POP_JUMP_IF_FALSE", fail);
      p.patterns.forEach((q, i) => {
        const fromEnd = star >= 0 && i > star ? i - p.patterns.length : i;
        element(q, () => {
          load(slot);
          if (q.kind === "MatchStar") {
            const after = p.patterns.length - star - 1;
            u.emit("LOAD_CONST", 0, star);
            u.emit("LOAD_CONST", 0, after === 0 ? null : -after);
            u.emit("LOAD_CONST", 0, null);
            u.emit("BUILD_SLICE");
            u.emit("BINARY_SUBSCR");
            u.emit("BUILD_LIST", 0);
            u.emit("SWAP", 2);
            u.emit("LIST_EXTEND");
          } else {
            u.emit("LOAD_CONST", 0, fromEnd);
            u.emit("BINARY_SUBSCR");
          }
        });
      });
      break;
    }
    case "MatchMapping": {
      load(slot);
      u.emit("MATCH_MAPPING");
      u.jump("POP_JUMP_IF_FALSE", fail);
      const keySlots = p.keys.map((k, i) => {
        const s = u.temporary(".key");
        expression(u, k);
        u.emit("STORE_FAST", s, ".key");
        load(slot);
        load(s);
        u.emit("MATCH_KEYS");
        u.jump("POP_JUMP_IF_FALSE", fail);
        const q = p.patterns[i];
        if (q) {
          element(q, () => {
            load(slot);
            load(s);
            u.emit("BINARY_SUBSCR");
          });
        }
        return s;
      });
      if (p.rest) {
        u.emit("BUILD_MAP", 0);
        load(slot);
        u.emit("DICT_UPDATE");
        for (const s of keySlots) {
          u.emit("COPY", 1);
          load(s);
          u.emit("DELETE_SUBSCR");
        }
        u.store(p.rest);
      }
      break;
    }
    case "MatchClass": {
      load(slot);
      expression(u, p.cls);
      // pushes a tuple of the attributes, or None
      u.emit("MATCH_CLASS", p.patterns.length, p.kwdAttrs);
      const attrs = u.temporary(".attrs");
      u.emit("STORE_FAST", attrs, ".attrs");
      load(attrs);
      u.emit("LOAD_CONST", 0, constant({ type: "None" }));
      u.emit("COMPARE_OP", 0, "is");
      u.jump("POP_JUMP_IF_TRUE", fail);
      [...p.patterns, ...p.kwdPatterns].forEach((q, i) => {
        element(q, () => {
          load(attrs);
          u.emit("LOAD_CONST", 0, i);
          u.emit("BINARY_SUBSCR");
        });
      });
      break;
    }
    default:
      p satisfies never;
  }
  u.at = outer;
}
