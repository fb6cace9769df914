// A value kept under a key, made when it is first asked for.
interface Store<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

export function kept<K, V>(store: Store<K, V>, key: K, make: () => V): V {
  const known = store.get(key);
  if (known !== undefined) return known;
  const made = make();
  store.set(key, made);
  return made;
}
