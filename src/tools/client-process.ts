import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { shellWord } from '../core/shell-word.ts'
import { elapsedTime, hostTime } from '../core/time/clock.ts'
import { formatDuration } from '../core/time/instant.ts'
import { later } from '../core/time/realtime.ts'
import type { RunningEmulator } from '../emulator/emulator.ts'
import { connect, type SandboxClient } from '../index.ts'
import { PACE } from '../service/client-tasks.ts'
import { CommandFailed, type Invocation } from '../terminal/command.ts'
import { Child } from '../terminal/exec-child.ts'
import { type Environment, flagOf, type Options } from '../terminal/options.ts'
import { type AdapterCommand, type Answer, adapterAnswer, ERROR_KINDS } from './certify/verdicts.ts'
import type { CERTIFY_OPTIONS } from './options.ts'

/** How all cases of a run are executed. */
export interface Setup extends Invocation<typeof CERTIFY_OPTIONS> {
  readonly emulator: RunningEmulator
  readonly command: readonly string[]
  /** Real milliseconds for one case. */
  readonly limit: number
}

/** The sandbox of one case, for the programme and for the client. */
export interface CaseStage {
  readonly sandbox: Sandbox
  readonly client: SandboxClient
  readonly env: Environment
}

/** Time-out for one request that clients are asked to use: well below the limit of a case. */
export const CLIENT_TIMEOUT = 2_000

/** Milliseconds of the virtual clock ahead of that of this machine: no client that compares a date with its own is early. */
const AHEAD = 50

/**
 * Creates the sandbox of a case, calls `work` and removes the sandbox. Its clock starts at the time of this machine and runs
 * with it: a client that sleeps in real time is judged correctly, also for a date in `Retry-After`.
 */
export async function onStage<T>(
  { emulator, env }: Setup,
  { name, seed }: { readonly name: string; readonly seed: number },
  settings: object,
  work: (stage: CaseStage) => Promise<T>,
): Promise<T> {
  const options = { seed, rate: 1, settings: { ...PACE, ...settings } }
  const client = await connect(emulator.url).sandbox(name.replaceAll(/[^a-z0-9]+/g, '-'), options)
  try {
    const { sandbox } = emulator.sandboxes.show(client.name)
    // The clock began before the sandbox was built.
    const late = Math.max(0, Math.ceil(hostTime() - sandbox.clock.due()))
    await client.clock.advance(`${late + AHEAD}ms`)
    const variables = {
      WORKSPACE_BASE_URL: client.baseUrl,
      WORKSPACE_API_KEY: client.apiKey,
      WORKSPACE_MEMBER_KEY: client.keys.member ?? undefined,
      WORKSPACE_SERVICE_KEY: client.keys.service ?? undefined,
      WORKSPACE_EMULATOR_URL: client.baseUrl.replace(/\/v1$/, ''),
      WORKSPACE_CERTIFY_CASE: name,
      WORKSPACE_CERTIFY_TIMEOUT_MS: String(CLIENT_TIMEOUT),
    }
    return await work({ sandbox, client, env: { ...env, ...variables } })
  } finally {
    await client.delete()
  }
}

/** The command that repeats one case or one fault, with those of the options that were given. */
export function repeatCommand(
  name: 'certify' | 'hunt',
  { options, given, command }: Pick<Setup, 'given' | 'command'> & { readonly options: object },
  repeated: Options,
  run: string,
): string {
  const flags = Object.entries(repeated)
    .filter(([name]) => given.has(name))
    .flatMap(([name, option]) => {
      const value: unknown = options[name as keyof typeof options]
      const flag = flagOf(name, option)
      if (option.kind === 'switch') return value === true ? [flag] : []
      if (typeof value === 'boolean') return [flag, value ? 'on' : 'off']
      return [flag, option.placeholder === 'duration' ? formatDuration(value as number) : String(value)]
    })
  const after = command.length === 0 ? [] : ['--', ...command]
  return ['workspace-emulator', name, ...flags, '--run', run, ...after].map(shellWord).join(' ')
}

/** The most characters of the output that are kept. */
const MAX_OUTPUT = 64_000

export type ClientProcess = ReturnType<typeof startClient>

/**
 * Starts the process of a client, which has a time limit in real milliseconds.
 * @param stdout what happens to its standard output: the end of it is kept with that of standard error, it has the answers of an
 *   adapter, or it is ignored
 */
export function startClient(
  command: readonly string[],
  env: Environment,
  limit: number,
  stdout: 'kept' | 'answers' | 'ignored',
) {
  const began = elapsedTime()
  let [isLate, output] = [false, '']
  let input: Writable | undefined
  let lines: AsyncIterator<string> | undefined
  const keep = (stream: Readable | null): void => {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT)
    })
  }
  const child = new Child((process) => {
    // A client that has ended reads no more input.
    input = process.stdin?.on('error', () => {})
    keep(process.stderr)
    if (stdout === 'kept') keep(process.stdout)
    else if (stdout === 'ignored' || process.stdout === null) process.stdout?.resume()
    else lines = createInterface(process.stdout)[Symbol.asyncIterator]()
  })
  const ended = child.run(command, env)
  const over = new Promise<undefined>((resolve) => {
    const cancel = later(limit, () => {
      isLate = true
      resolve(undefined)
    })
    void ended.then(cancel).then(() => resolve(undefined))
  })
  return {
    /** Whether it still ran at its time limit. */
    isLate: () => isLate,

    /** The answer of an adapter; undefined when it has ended without one, or its time is over. */
    ask: async (question: AdapterCommand): Promise<Answer | undefined> => {
      input?.write(`${JSON.stringify({ ...question, timeout_ms: CLIENT_TIMEOUT })}\n`)
      const line = (await Promise.race([lines?.next(), over]))?.value
      try {
        return line === undefined ? undefined : adapterAnswer.parse(JSON.parse(line))
      } catch {
        throw new CommandFailed(
          `The adapter wrote ${JSON.stringify(line.slice(0, 200))}, which is not an answer: {"ok": value}, {"error": {"kind", "status", "message"}} with a kind among ${ERROR_KINDS.replaceAll(' ', ', ')}, or {"unsupported": true}. Write everything else to standard error. See docs/guide/certify.md.`,
        )
      }
    },

    /** Closes its standard input. Resolves when the process has ended or its time is over. */
    over: async (): Promise<void> => {
      input?.end()
      await over
    },

    /** Ends the process if it still runs. Throws {@link CommandFailed} when it could not be started. */
    end: async () => {
      child.kill()
      const { code, signal, failure } = await ended
      if (failure !== undefined) throw new CommandFailed(failure)
      return { code, signal, ms: Math.round(elapsedTime() - began), output }
    },
  }
}
