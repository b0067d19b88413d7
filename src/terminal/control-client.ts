import { type CallControl, callControlOver } from '../control-client/ask.ts'
import { EmulatorError } from '../control-client/emulator-error.ts'
import { nodeFetch } from '../control-client/node-fetch.ts'
import { methodAndPath, networkReason, overHttp } from '../control-client/over-http.ts'
import type { Issue } from '../core/json.ts'
import { harmless } from '../core/quoted.ts'
import { CommandFailed } from './command.ts'

/** Where an emulator is, and the token of its control interface. */
export interface ControlAddress {
  /** Without a slash at the end. It may name a sandbox: `http://127.0.0.1:4010/@name`. */
  readonly url: string
  readonly controlToken?: string | undefined
  /** The sandbox of the calls. Default: the one that `url` names, otherwise the default sandbox. */
  readonly sandbox?: string | undefined
}

/** A request that was refused, with the issues of its body. */
export class RequestRefused extends CommandFailed {
  readonly issues: readonly Issue[]

  constructor(message: string, issues: readonly Issue[]) {
    super(message)
    this.issues = issues
  }
}

/** Nothing listens at the address of the emulator. */
export class NothingListens extends CommandFailed {}

/** Milliseconds that one call may take by default. */
const PATIENCE = 300_000

/**
 * Calls the control interface as the library does. Rejects with {@link CommandFailed}, whose message names commands and flags.
 * @param worded changes the message of a refusal; by default it names flags in place of parameters of the query
 */
export function controlOf(address: ControlAddress, patience = PATIENCE, worded = withFlags): CallControl {
  const { controlToken, sandbox } = address
  const transport = overHttp({ url: emulatorOrigin(address), controlToken }, nodeFetch)
  const ask = callControlOver(transport, sandbox ?? namedIn(address)) as AnyCall
  const call: AnyCall = async (route, given) => {
    try {
      return await ask(route, { ...given, signal: AbortSignal.timeout(patience) })
    } catch (error) {
      throw failure(address, methodAndPath({ route, params: given?.params }).join(' '), error, worded)
    }
  }
  return call as CallControl
}

/** A call without the types of its input and output. */
export type AnyCall = (
  route: string,
  given?: Readonly<{
    params?: Readonly<Record<string, string>>
    query?: Readonly<Record<string, string | undefined>> | undefined
    body?: unknown
    signal?: AbortSignal
  }>,
) => Promise<object | undefined>

/** The sandbox that an address names. */
export function namedIn({ url }: ControlAddress): string | undefined {
  return /\/@([^/]*)$/.exec(url)?.[1]
}

/** The origin of the emulator, without a sandbox that the address may name. */
export function emulatorOrigin({ url }: ControlAddress): string {
  return url.replace(/\/@[^/]*$/, '')
}

/**
 * Turns an error of the client into one whose message names the flags to use.
 * @param asked method and path below `/__emulator`
 */
export function failure(address: ControlAddress, asked: string, error: unknown, worded = withFlags): unknown {
  const { url, controlToken } = address
  if (error instanceof DOMException) return new CommandFailed(silence(url, error.name))
  if (!(error instanceof EmulatorError)) return error
  const { status, code, detail, mitigation, issues, cause } = error
  if (code === 'no_answer') {
    const reason = networkReason(cause)
    const Failed = reason === 'ECONNREFUSED' ? NothingListens : CommandFailed
    return new Failed(silence(url, reason))
  }
  if (code === 'unauthorized') {
    const token =
      controlToken === undefined ? 'requires a control token' : 'does not accept this control token'
    return new CommandFailed(
      `${url} ${token}. Give the token that it was started with or printed: --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.`,
    )
  }
  if (code === 'no_emulator') {
    return new CommandFailed(
      `${url} responds, but is not a workspace emulator (${asked.replace(' ', ' /__emulator')}: ${status}). Give the address of an emulator with --url.`,
    )
  }
  const { message } = new EmulatorError({ status, code, detail, mitigation, issues })
  return new RequestRefused(harmless(worded(message)), issues)
}

// A parameter of the query is a flag of the command.
function withFlags(message: string): string {
  return message
    .replace(/^One field is not valid: (?=\/query\/)/, '')
    .replaceAll(/\/query\/(\w+)/g, (_, name: string) => `--${name.replaceAll('_', '-')}`)
}

function silence(url: string, reason: string): string {
  return reason === 'ECONNREFUSED'
    ? `Nothing listens at ${url}. Start an emulator with "workspace-emulator start", or give the address of another one with --url.`
    : `No response from ${url} (${reason}). Give the address of another emulator with --url.`
}
