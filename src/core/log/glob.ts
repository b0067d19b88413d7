/**
 * Whether a text fits a pattern in which `*` matches any run of characters, also an empty one and slashes; everything else
 * matches itself. The time is linear in the sum of the lengths: a matcher runs for every request.
 */
export function fitsGlob(pattern: string, text: string): boolean {
  const [head = '', ...parts] = pattern.split('*')
  const tail = parts.pop()
  if (tail === undefined) return text === pattern
  const end = text.length - tail.length
  if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) return false
  let at = head.length
  for (const part of parts) {
    if (part === '') continue
    at = behind(part, text, at, end)
    if (at === -1) return false
  }
  return true
}

/**
 * Where the first occurrence of a part ends that lies between two places; -1 when there is none. By Knuth, Morris and Pratt:
 * `indexOf` takes the product of the lengths for texts such as `aaaa`.
 */
function behind(part: string, text: string, from: number, end: number): number {
  if (part.length > end - from) return -1
  const borders = bordersOf(part)
  let fitting = 0
  for (let at = from; at < end; at++) {
    while (fitting > 0 && part[fitting] !== text[at]) fitting = borders[fitting - 1] as number
    if (part[fitting] === text[at]) fitting += 1
    if (fitting === part.length) return at + 1
  }
  return -1
}

/** For each beginning of a text, the length of the longest shorter beginning that it ends with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length)
  let length = 0
  for (let at = 1; at < text.length; at++) {
    while (length > 0 && text[length] !== text[at]) length = borders[length - 1] as number
    if (text[length] === text[at]) length += 1
    borders[at] = length
  }
  return borders
}
