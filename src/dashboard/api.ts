import { signal } from '@preact/signals'
import {
  type CallControl,
  type CallsOf,
  callControlOver,
  type LastParameter,
  type OwnCalls,
} from '../control-client/ask.ts'
import { EmulatorError } from '../control-client/emulator-error.ts'
import { type EmulatorAddress, overHttp } from '../control-client/over-http.ts'
import { apiPath, controlPath, type Transport } from '../control-client/transport.ts'
import type { batchControls } from '../service/batch-predictions/controls.ts'
import type { batchOverviews } from '../service/batch-predictions/overview.ts'
import { keep, kept } from './browser.ts'
import { sandboxName } from './place.ts'

/** The calls of the control interface itself, and those that batches add to it. */
type DashboardCalls = OwnCalls & CallsOf<(typeof batchControls | typeof batchOverviews)[number]>

/** The response of a call: `Output<'GET /clock'>`. */
export type Output<K extends keyof DashboardCalls> = DashboardCalls[K]['output']

const token = signal(kept('token', 'sessionStorage') ?? undefined)

/** Whether the emulator requires a control token that the page does not have. */
export const needsToken = signal(false)

export function useToken(text: string): void {
  keep('token', text, 'sessionStorage')
  token.value = text
  needsToken.value = false
}

// Not only the origin: another server may have mounted the emulator at a path. The sandbox is in the hash.
const url = new URL('../..', location.href).href.slice(0, -1).replace(/\/@[^/]*$/, '')

/** The address of the emulator that has served this page. */
export function emulatorAddress(): EmulatorAddress {
  return { url, controlToken: token.value }
}

/** The base URL of the API of the present sandbox. */
export function baseUrl(): string {
  return url + apiPath(sandboxName.value)
}

/** The control URL of the present sandbox. */
export function controlUrl(): string {
  return url + controlPath(sandboxName.value)
}

/** Calls the control interface for the present sandbox. Rejects with an `EmulatorError`. */
export const ask: CallControl<DashboardCalls> = async (route, ...given) =>
  (await callTagged(route, ...given)).output

/** Like {@link ask}, but also returns the entity tag of the record in the output; undefined without a record. */
export async function callTagged<K extends keyof DashboardCalls & string>(
  route: K,
  ...given: LastParameter<DashboardCalls[K]>
) {
  let etag: string | undefined
  const transport: Transport = async (call) => {
    const response = await overHttp(emulatorAddress())(call)
    etag = response.etag
    return response
  }
  try {
    const output = await callControlOver<DashboardCalls>(transport, sandboxName.value)(route, ...given)
    return { output, etag }
  } catch (error) {
    if (error instanceof EmulatorError && error.status === 401) needsToken.value = true
    throw error
  }
}

/** The problem and its fix, in one text. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof EmulatorError)) return error instanceof Error ? error.message : String(error)
  if (error.code === 'no_answer')
    return `There is no response from ${url}. Check that the emulator is still running; the page connects again by itself.`
  if (error.status === 401) return 'The emulator requires its control token. Load the page again to enter it.'
  return error.mitigation === undefined ? error.detail : `${error.detail} ${error.mitigation}`
}
