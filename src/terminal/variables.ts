import type { SandboxKeys } from '../core/request/plain-keys.ts'
import { variableOf } from './options.ts'

/** Where an emulator is, and what its clients need. */
interface Access {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  readonly keys: SandboxKeys
  /** The key in WORKSPACE_API_KEY. */
  readonly api: string | null
  readonly controlToken: string | undefined
}

/** The environment variables of clients and tests of an emulator; without those that have no value. */
export function environmentOf({ baseUrl, keys, api, controlToken }: Access): Record<string, string> {
  const variables = {
    WORKSPACE_BASE_URL: baseUrl,
    WORKSPACE_API_KEY: api,
    WORKSPACE_MEMBER_KEY: keys.member,
    WORKSPACE_SERVICE_KEY: keys.service,
    // The address of the emulator, without a sandbox.
    [variableOf('url')]: baseUrl.replace(/(?:\/@[^/]*)?\/v1$/, ''),
    [variableOf('controlToken')]: controlToken ?? null,
  }
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  )
}
