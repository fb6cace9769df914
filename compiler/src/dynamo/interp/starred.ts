// Names that `from library import *` brings where nobody knows the library. In: the namespace of a module, what it imports. Out: what
// such a name is.
import type { PyDict, PyUnknown } from "../objects/values";

const starred = new WeakMap<PyDict, PyUnknown>();

/** what of an unknown library a namespace has all names of */
export const starOf = (names: PyDict): PyUnknown | undefined => starred.get(names);

export function noteStar(names: PyDict, library: PyUnknown): void {
  starred.set(names, library);
}
