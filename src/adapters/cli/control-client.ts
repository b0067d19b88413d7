import { type Issue, isObject, type Json, type JsonObject } from '../../core/json.ts'
import { issuesIn } from '../control/client/emulator-error.ts'
import { NoAnswer, sendJson } from '../control/client/http.ts'
import { CommandFailed } from './command.ts'
import { printable } from './print.ts'

/** Where an emulator is, and the token of its control interface. */
export interface ControlAddress {
  /** Without a slash at the end. */
  readonly url: string
  readonly controlToken?: string | undefined
  /** The sandbox that requests are about; the default one when it is absent. */
  readonly sandbox?: string | undefined
}

type ControlMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

export { NoAnswer }

/** A response of the control interface, read to its end. */
interface ControlResponse {
  readonly status: number
  /** Undefined when it was no JSON object, which an emulator never sends. */
  readonly body: JsonObject | undefined
  /** Whether a control token is missing or wrong. */
  readonly locked: boolean
}

/** A request that was refused, with the issues of its body. */
export class RequestRefused extends CommandFailed {
  readonly issues: readonly Issue[]

  constructor(message: string, issues: readonly Issue[]) {
    super(message)
    this.issues = issues
  }
}

/** Milliseconds that one request may take by default. */
const PATIENCE = 300_000

/** Sends one request to the control interface. Throws {@link NoAnswer}. */
export async function send(
  address: ControlAddress,
  method: ControlMethod,
  path: string,
  { body, patience = PATIENCE }: { readonly body?: Json; readonly patience?: number } = {},
): Promise<ControlResponse> {
  const response = await sendJson({
    method,
    url: `${controlUrl(address)}${path}`,
    controlToken: address.controlToken,
    body,
    signal: AbortSignal.timeout(patience),
  })
  return { ...response, body: isObject(response.body) ? response.body : undefined }
}

/** The origin of the emulator, also where the address names a sandbox. */
export function originOf({ url }: ControlAddress): string {
  return url.replace(/\/@[^/]*$/, '')
}

function controlUrl(address: ControlAddress): string {
  const { url, sandbox } = address
  return sandbox === undefined ? `${url}/__emulator` : `${originOf(address)}/@${sandbox}/__emulator`
}

/** The body of a successful response; an empty object where it has none. Otherwise throws {@link CommandFailed} with the way out. */
export async function ask(
  address: ControlAddress,
  method: ControlMethod,
  path: string,
  body?: Json,
): Promise<JsonObject> {
  const response = await send(address, method, path, body === undefined ? {} : { body }).catch(
    (error: unknown) => {
      throw error instanceof NoAnswer ? new CommandFailed(silence(address, error)) : error
    },
  )
  if (response.status === 204) return {}
  if (response.status < 300 && response.body !== undefined) return response.body
  throw new RequestRefused(
    refusal(address, `${method} /__emulator${path}`, response),
    issuesIn(response.body),
  )
}

/** The message when no response came from an address. */
export function silence({ url }: ControlAddress, { message }: NoAnswer): string {
  return message === 'ECONNREFUSED'
    ? `Nothing listens at ${url}. Start an emulator with "workspace-emulator start", or name another with --url.`
    : `No response from ${url} (${message}). Name another emulator with --url.`
}

/** The message about a response that is no success. */
export function refusal(
  { url, controlToken }: ControlAddress,
  asked: string,
  response: ControlResponse,
): string {
  const { status, body, locked } = response
  if (locked) {
    const token = controlToken === undefined ? 'demands a control token' : 'does not know this control token'
    return `${url} ${token}. Give the one that it was started with or printed: --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.`
  }
  if (typeof body?.message !== 'string') {
    return `${url} responds, but is no workspace emulator (${asked}: ${status}). Name another with --url.`
  }
  const sentences = [body.message, body.mitigation].filter((each) => typeof each === 'string').join(' ')
  const [first, ...others] = issuesIn(response.body)
  // The message names the first issue, unless it is about all of them.
  const rest = first === undefined || body.message.includes(first.detail) ? others : [first, ...others]
  const lines = rest.map(({ pointer, detail }) => `  ${pointer}: ${detail}`)
  return [...sentences.split('\n'), ...lines].map(inCommands).map(printable).join('\n')
}

/** The command that shows the same as a route. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['faults/presets', 'faults presets'],
  ['faults', 'faults list'],
  ['scenarios', 'scenario list'],
  ['snapshots', 'snapshot list'],
  ['sandboxes', 'sandbox list'],
  ['requests', 'requests'],
])

// Messages name routes; a user of the command line needs the command.
function inCommands(line: string): string {
  return line.replaceAll(/GET \/__emulator\/([a-z/]*[a-z])(?![\w/{?-])/g, (route, path: string) => {
    const name = COMMANDS.get(path)
    return name === undefined ? route : `"workspace-emulator ${name}"`
  })
}
