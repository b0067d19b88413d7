import type { RunningEmulator } from '../../src/emulator.ts'
import { checkOutput } from './control-output.ts'

/** A response of the control interface. */
export interface Called {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape; the assertions are the types.
  readonly body: any
}

export type CallControl = (method: string, path: string, json?: unknown) => Promise<Called>

/** The control interface of one sandbox of a running emulator. */
export function controlOf(
  { controlUrl }: Pick<RunningEmulator, 'controlUrl'>,
  name = 'default',
): CallControl {
  const prefix = name === 'default' ? '' : `/@${name}`
  return async (method, path, json) => {
    const response = await fetch(controlUrl.replace('/__emulator', `${prefix}/__emulator`) + path, {
      method,
      ...(json === undefined
        ? {}
        : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    const called = { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    return checkOutput(method, path, called)
  }
}
