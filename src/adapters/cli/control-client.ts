import type { Issue } from '../../core/json.ts'
import { type Ask, askOver, type OwnCalls, type Rest } from '../control/client/ask.ts'
import { EmulatorError } from '../control/client/emulator-error.ts'
import { methodAndPath, NoResponse, overHttp } from '../control/client/over-http.ts'
import { CommandFailed } from './command.ts'
import { nodeFetch } from './node-fetch.ts'
import { printable } from './print.ts'

/** Where an emulator is, and the token of its control interface. */
export interface ControlAddress {
  /** Without a slash at the end; it may name a sandbox. */
  readonly url: string
  readonly controlToken?: string | undefined
  /** The sandbox that calls are about; the default one when it is absent. */
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

/** Milliseconds that one call may take by default. */
const PATIENCE = 300_000

/** Calls the control interface as the library does. Rejects with {@link CommandFailed}, in the words of the command line. */
export function controlOf(address: ControlAddress, patience = PATIENCE): Ask {
  const { controlToken, sandbox } = address
  const transport = overHttp({ url: emulatorOrigin(address), controlToken }, nodeFetch)
  const ask: Ask = askOver(transport, sandbox ?? namedIn(address))
  return async <K extends keyof OwnCalls & string>(route: K, ...[given]: Rest<OwnCalls[K]>) => {
    const rest = [{ ...given, signal: AbortSignal.timeout(patience) }] as unknown as Rest<OwnCalls[K]>
    try {
      return await ask(route, ...rest)
    } catch (error) {
      const { params } = (given ?? {}) as { readonly params?: Readonly<Record<string, string>> }
      const [method, path] = methodAndPath({ route, params })
      throw failure(address, `${method} ${path}`, error)
    }
  }
}

/** The sandbox that an address names. */
export function namedIn({ url }: ControlAddress): string | undefined {
  return /\/@([^/]*)$/.exec(url)?.[1]
}

/** The origin of the emulator, also where the address names a sandbox. */
export function emulatorOrigin({ url }: ControlAddress): string {
  return url.replace(/\/@[^/]*$/, '')
}

/** An error of the client, with the flags that are the way out. @param asked method and path below `/__emulator` */
export function failure({ url, controlToken }: ControlAddress, asked: string, error: unknown): unknown {
  if (error instanceof DOMException) return new CommandFailed(silence(url, error.name))
  if (!(error instanceof EmulatorError)) return error
  const { status, code, detail, mitigation, issues, cause } = error
  if (code === 'no_answer')
    return new CommandFailed(silence(url, cause instanceof NoResponse ? cause.message : ''))
  if (code === 'unauthorized') {
    const token = controlToken === undefined ? 'demands a control token' : 'does not know this control token'
    return new CommandFailed(
      `${url} ${token}. Give the one that it was started with or printed: --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.`,
    )
  }
  if (code === 'no_emulator') {
    return new CommandFailed(
      `${url} responds, but is no workspace emulator (${asked.replace(' ', ' /__emulator')}: ${status}). Name another with --url.`,
    )
  }
  const { message } = new EmulatorError({ status, code, detail, mitigation, issues })
  return new RequestRefused(message.split('\n').map(inCommands).map(printable).join('\n'), issues)
}

function silence(url: string, reason: string): string {
  return reason === 'ECONNREFUSED'
    ? `Nothing listens at ${url}. Start an emulator with "workspace-emulator start", or name another with --url.`
    : `No response from ${url} (${reason}). Name another emulator with --url.`
}

/** The command that shows the same as a route. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['faults/presets', 'faults presets'],
  ['faults', 'faults list'],
  ['scenarios', 'scenario list'],
  ['snapshots', 'snapshot list'],
  ['sandboxes', 'sandbox list'],
  ['requests', 'requests'],
  ['operations', 'api operations'],
  ['state', 'state'],
  ['collections', 'state'],
  ['stubs', 'stub list'],
  ['settings', 'settings'],
  ['assumptions', 'assumptions'],
  ['webhooks', 'webhook list'],
  ['webhooks/deliveries', 'webhook deliveries'],
  ['batches', 'batch list'],
  ['limits', 'limits'],
])

// Messages name routes; a user of the command line needs the command.
function inCommands(line: string): string {
  return line.replaceAll(/GET \/__emulator\/([a-z/]*[a-z])(?![\w/{?-])/g, (route, path: string) => {
    const name = COMMANDS.get(path)
    return name === undefined ? route : `"workspace-emulator ${name}"`
  })
}
