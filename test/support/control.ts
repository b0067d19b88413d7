import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import { checkOutput } from './control-output.ts'
import { overSocket } from './transport.ts'

/** A response of the control interface. */
export interface Called {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape; the assertions are the types.
  readonly body: any
}

export type CallControl = (method: string, path: string, json?: unknown) => Promise<Called>

/** The control interface of one sandbox. */
export function controlOf(
  { controlUrl }: Pick<RunningEmulator, 'controlUrl'>,
  name = 'default',
): CallControl {
  const prefix = name === 'default' ? '' : `/@${name}`
  return async (method, path, json) => {
    const url = controlUrl.replace('/__emulator', `${prefix}/__emulator`) + path
    const body = json === undefined ? undefined : JSON.stringify(json)
    const headers: Record<string, string> = json === undefined ? {} : { 'content-type': 'application/json' }
    const { status, text } = await overSocket(url, { method, headers, body })
    const called = { status, body: text === '' ? undefined : JSON.parse(text) }
    return checkOutput(method, path, called)
  }
}
