/**
 * Whether a text fits a pattern in which `*` stands for any run of characters, none and slashes included; everything else
 * stands for itself. Time grows with the product of the lengths at worst, never faster.
 */
export function fitsGlob(pattern: string, text: string): boolean {
  let [at, from] = [0, 0]
  let star = -1
  let resume = 0
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = from
      resume = at
      from += 1
    } else if (from < pattern.length && pattern[from] === text[at]) {
      from += 1
      at += 1
    } else if (star !== -1) {
      // The last star takes one character more, and the rest of the pattern is tried again.
      resume += 1
      at = resume
      from = star + 1
    } else return false
  }
  while (pattern[from] === '*') from += 1
  return from === pattern.length
}
