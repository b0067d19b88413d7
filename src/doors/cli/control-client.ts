import { type Issue, isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import { issuesIn } from '../control/client/emulator-error.ts'
import { NoAnswer, sendJson } from '../control/client/http.ts'
import { printable } from './print.ts'
import { CommandFailed } from './usage.ts'

/** Where an emulator is, and the token of its control interface. */
export interface ControlAddress {
  /** Without a slash at the end. */
  readonly url: string
  readonly controlToken?: string | undefined
  /** The sandbox that requests are about; the default one when it is absent. */
  readonly sandbox?: string | undefined
}

export type ControlMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

export { NoAnswer }

/** An answer of the control interface, read to its end. */
export interface ControlAnswer {
  readonly status: number
  /** Undefined when the answer was no JSON object, which an emulator never gives. */
  readonly body: JsonObject | undefined
  /** Whether a control token is missing or wrong. */
  readonly locked: boolean
}

/** A request that was refused, with what is wrong in its body. */
export class RequestRefused extends CommandFailed {
  readonly issues: readonly Issue[]

  constructor(message: string, issues: readonly Issue[]) {
    super(message)
    this.issues = issues
  }
}

/** How long one request may take, in milliseconds, where nothing else is said. */
const PATIENCE = 300_000

/** Sends one request to the control interface. Throws {@link NoAnswer}. */
export async function send(
  address: ControlAddress,
  method: ControlMethod,
  path: string,
  { body, patience = PATIENCE }: { readonly body?: Json; readonly patience?: number } = {},
): Promise<ControlAnswer> {
  const answer = await sendJson({
    method,
    url: `${controlUrl(address)}${path}`,
    controlToken: address.controlToken,
    body,
    signal: AbortSignal.timeout(patience),
  })
  return { ...answer, body: isObject(answer.body) ? answer.body : undefined }
}

/** Where the emulator is, whatever sandbox its address names. */
export function originOf({ url }: ControlAddress): string {
  return url.replace(/\/@[^/]*$/, '')
}

function controlUrl(address: ControlAddress): string {
  const { url, sandbox } = address
  return sandbox === undefined ? `${url}/__emulator` : `${originOf(address)}/@${sandbox}/__emulator`
}

/** The body of a successful answer, empty where it has none. Throws {@link CommandFailed} with the way out otherwise. */
export async function ask(
  address: ControlAddress,
  method: ControlMethod,
  path: string,
  body?: Json,
): Promise<JsonObject> {
  const answer = await send(address, method, path, body === undefined ? {} : { body }).catch(
    (error: unknown) => {
      throw error instanceof NoAnswer ? new CommandFailed(silence(address, error)) : error
    },
  )
  if (answer.status === 204) return {}
  if (answer.status < 300 && answer.body !== undefined) return answer.body
  throw new RequestRefused(refusal(address, `${method} /__emulator${path}`, answer), issuesIn(answer.body))
}

/** That nothing answers at an address, and what to do. */
export function silence({ url }: ControlAddress, { message }: NoAnswer): string {
  return message === 'ECONNREFUSED'
    ? `Nothing listens at ${url}. Start an emulator with "workspace-emulator start", or name another with --url.`
    : `No answer from ${url} (${message}). Name another emulator with --url.`
}

/** Why an answer is no success, and what to do. */
export function refusal({ url, controlToken }: ControlAddress, asked: string, answer: ControlAnswer): string {
  const { status, body, locked } = answer
  if (locked) {
    const token = controlToken === undefined ? 'demands a control token' : 'does not know this control token'
    return `${url} ${token}. Give the one that it was started with or printed: --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.`
  }
  if (typeof body?.message !== 'string') {
    return `${url} answers, but is no workspace emulator (${asked}: ${status}). Name another with --url.`
  }
  const sentences = [body.message, body.mitigation].filter((each) => typeof each === 'string').join(' ')
  const [first, ...others] = issuesIn(answer.body)
  // The message names the first that is wrong, unless it speaks of all of them.
  const rest = first === undefined || body.message.includes(first.detail) ? others : [first, ...others]
  const lines = rest.map(({ pointer, detail }) => `  ${pointer}: ${detail}`)
  return [...sentences.split('\n'), ...lines].map(inCommands).map(printable).join('\n')
}

/** The commands that show what a route shows. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['faults/presets', 'faults presets'],
  ['faults', 'faults list'],
  ['scenarios', 'scenario list'],
  ['snapshots', 'snapshot list'],
  ['sandboxes', 'sandbox list'],
  ['requests', 'requests'],
])

// Whoever types commands is not to look up how a route is called.
function inCommands(line: string): string {
  return line.replaceAll(/GET \/__emulator\/([a-z/]*[a-z])(?![\w/{?-])/g, (route, path: string) => {
    const name = COMMANDS.get(path)
    return name === undefined ? route : `"workspace-emulator ${name}"`
  })
}
