/** Headers in the order in which they are sent. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** A list with some headers set: each stands in for all of its name, in any letter case. */
export function withHeaders(list: HeaderList, set: HeaderList): HeaderList {
  if (set.length === 0) return list
  const names = new Set(set.map(([name]) => name.toLowerCase()))
  return [...list.filter(([name]) => !names.has(name.toLowerCase())), ...set]
}
