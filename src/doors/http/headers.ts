/** One header line to send: its name as it shall appear on the wire, and its value. */
export type HeaderPair = readonly [name: string, value: string]

/**
 * Every value that a request gave for one header, in order, duplicates kept.
 * @param rawHeaders `IncomingMessage.rawHeaders`: names and values in turn. (`headers` hides duplicates.)
 * @param name in any case
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const wanted = name.toLowerCase()
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === wanted) values.push(rawHeaders[at + 1] ?? '')
  }
  return values
}
