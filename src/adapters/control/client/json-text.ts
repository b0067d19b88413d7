import { EmulatorError } from './emulator-error.ts'

/**
 * A value as the JSON text that carries it to the emulator; undefined where there is none, as of a function. Throws an
 * {@link EmulatorError} of the code `validation_failed` for a value that JSON cannot say.
 */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new EmulatorError(
      {
        status: 400,
        code: 'validation_failed',
        detail: `What was given cannot be written as JSON: ${reasonOf(error)}.`,
        mitigation:
          'Give objects, arrays, texts, finite numbers, booleans and null, without a circle among them.',
      },
      { cause: error },
    )
  }
}

// The engine draws the circle on further lines.
function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
}
