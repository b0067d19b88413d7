import { closest, distance } from 'fastest-levenshtein'

/** ` Did you mean "x"?`, or an empty text when no known name is similar. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined ? '' : ` Did you mean "${near}"?`
}

function nearest(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined
  const near = known.find((each) => isOneSlip(name, each)) ?? closest(name, known)
  // At most a third of the letters may differ, because a short name is similar to many words. Hyphens of a flag do not count.
  const letters = name.replace(/^-+/, '').length
  if (distance(name, near) <= letters / 3 || isOneSlip(name, near)) return near
  return name.length < 3 ? undefined : known.find((each) => each.startsWith(name))
}

/** Whether a name has one letter too many, too few or wrong, or two neighbours swapped. */
function isOneSlip(name: string, near: string): boolean {
  if (name.length < 2) return false
  if (distance(name, near) === 1) return true
  const at = [...name].findIndex((letter, index) => letter !== near[index])
  const swapped = name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2)
  return at !== -1 && swapped === near
}
