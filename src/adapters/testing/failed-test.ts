/** An error of a test, as its runner keeps it. */
export interface TestFailure {
  message: string
  stack?: string | undefined
}

/**
 * Puts a report behind the message of an error, in its stack as well: some reporters print the one, some the other. The lines of
 * the stack that name places stay at its end, where tools look for them.
 */
export function addReport(error: TestFailure, report: string): void {
  const { message, stack } = error
  error.message = `${message}\n\n${report}\n`
  if (stack === undefined) return
  const end = stack.indexOf(message) + message.length
  const place = stack.includes(message) ? end : stack.search(/\n\s+at /)
  error.stack =
    place === -1 ? `${stack}\n\n${report}\n` : `${stack.slice(0, place)}\n\n${report}\n${stack.slice(place)}`
}
