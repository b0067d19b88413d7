import { signal } from '@preact/signals'
import type {
  BatchFailure,
  BatchPlanChange,
  BatchSummary,
  BatchView,
  PlannedResults,
} from '../../../index.ts'
import {
  type CallControl,
  callControlOver,
  type LastParameter,
  type OwnCalls,
} from '../../control/client/ask.ts'
import { EmulatorError } from '../../control/client/emulator-error.ts'
import { type EmulatorAddress, overHttp } from '../../control/client/over-http.ts'
import { apiPath, controlPath, type Transport } from '../../control/client/transport.ts'
import { keepToken, keptToken } from './browser.ts'
import { sandboxName } from './place.ts'

type OneBatch = {
  readonly params: { readonly id: string }
  readonly query: unknown
  readonly output: BatchView
}

/** Calls of resources that views use, in addition to those of the control interface itself. */
interface BatchCalls {
  readonly 'GET /batches': {
    readonly params: unknown
    readonly query: unknown
    readonly body: unknown
    readonly output: { readonly data: readonly BatchSummary[] }
  }
  readonly 'GET /batches/{id}/results': {
    readonly params: { readonly id: string }
    readonly query: { readonly limit: string; readonly offset: string }
    readonly body: unknown
    readonly output: PlannedResults
  }
  readonly 'GET /batches/{id}': OneBatch & { readonly body: unknown }
  readonly 'PATCH /batches/{id}': OneBatch & { readonly body: BatchPlanChange }
  readonly 'POST /batches/{id}/fail': OneBatch & { readonly body: BatchFailure | undefined }
  readonly 'POST /batches/{id}/expire': OneBatch & { readonly body: unknown }
  readonly 'POST /batches/{id}/complete': OneBatch & { readonly body: unknown }
  readonly 'POST /batches/{id}/cleanup': OneBatch & { readonly body: unknown }
}

type DashboardCalls = OwnCalls & BatchCalls

/** The response of a call: `Output<'GET /clock'>`. */
export type Output<K extends keyof DashboardCalls> = DashboardCalls[K]['output']

const token = signal(keptToken())

/** Whether the emulator requires a control token that the page does not have. */
export const needsToken = signal(false)

export function useToken(text: string): void {
  keepToken(text)
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
  const send = overHttp(emulatorAddress())
  let etag: string | undefined
  const transport: Transport = async (call) => {
    const response = await send(call)
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
  return error.mitigation === undefined ? error.detail : `${error.detail} ${error.mitigation}`
}
