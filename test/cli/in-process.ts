import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { run } from '../../src/cli/command-line.ts'
import type { Environment } from '../../src/terminal/options.ts'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The outcome of a command that prints only an error. @param part a part of it */
export function withError(code: number, part: string | RegExp): Outcome {
  const err = typeof part === 'string' ? expect.stringContaining(part) : expect.stringMatching(part)
  return { code, out: '', err }
}

/** Runs a command in this process. @param width the number of columns of its terminal; absent: it has none */
export async function command(argv: readonly string[], env: Environment = {}, width?: number) {
  const out: string[] = []
  const err: string[] = []
  const terminal = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    colours: false,
    width,
  }
  const code = await run(argv, env, terminal)
  return { code, out: out.join('\n'), err: err.join('\n') } satisfies Outcome
}

/** Runs a command in this process with another working directory. */
export async function commandIn(folder: string, ...argv: readonly string[]): Promise<Outcome> {
  const usual = process.cwd()
  process.chdir(folder)
  try {
    return await command(argv)
  } finally {
    process.chdir(usual)
  }
}

/** A command that runs in this process until it is stopped. */
export interface Lasting {
  /** The next line on stdout; empty if the command ends without one. */
  next(): Promise<string>
  /** Resolves when standard error, from its start, contains a text. */
  hasSaid(text: string): Promise<void>
  /** As if this process got a signal; only the command hears it. */
  signal(name: Signal): void
  /** Sends SIGTERM. @returns the whole output and the exit code */
  stop(): Promise<Outcome>
  readonly ended: Promise<Outcome>
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof SIGNALS)[number]

/** Starts a command in this process; it gets SIGTERM if it still runs when the test ends. */
export function lastingCommand(argv: readonly string[], env: Environment = {}): Lasting {
  const earlier = new Set<unknown>(SIGNALS.flatMap((name) => process.listeners(name)))
  const own = (name: Signal) => process.listeners(name).filter((listener) => !earlier.has(listener))
  const [out, err]: [string[], string[]] = [[], []]
  const unread: string[] = []
  let isOver = false
  let wake = () => {}
  const terminal = {
    out: (text: string) => {
      out.push(text)
      unread.push(...text.split('\n'))
      wake()
    },
    err: (text: string) => {
      err.push(text)
      wake()
    },
    colours: false,
  }
  const ended = run(argv, env, terminal).then((code) => {
    isOver = true
    wake()
    return { code, out: out.join('\n'), err: err.join('\n') }
  })
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone() && !isOver) await new Promise<void>((resolve) => (wake = resolve))
  }
  const signal = (name: Signal) => {
    for (const listener of own(name)) listener(name)
  }
  const stop = () => {
    if (!isOver) signal('SIGTERM')
    return ended
  }
  onTestFinished(async () => {
    // A command that does not hear signals ends with its emulator.
    if (own('SIGTERM').length > 0) await stop()
    // A command leaves its listeners to the end of its process.
    for (const name of SIGNALS) for (const listener of own(name)) process.off(name, listener)
  })
  return {
    next: async () => {
      await until(() => unread.length > 0)
      return unread.shift() ?? ''
    },
    hasSaid: (text) => until(() => err.join('\n').includes(text)),
    signal,
    stop,
    ended,
  }
}

/** Starts an emulator in this process on a free port, in memory unless the arguments choose otherwise. */
export async function startedEmulator(argv: readonly string[] = ['--ephemeral'], env: Environment = {}) {
  const lasting = lastingCommand(['start', '--json', '--port', '0', ...argv], env)
  return { ...lasting, ready: JSON.parse(await lasting.next()) as ReadyLine }
}

/** The line that `start --json` prints when it is ready. */
export interface ReadyLine {
  readonly base_url: string
  readonly control_url: string
  readonly port: number
  readonly keys: Readonly<Record<'user' | 'member' | 'service', string | null>>
  readonly control_token?: string
}

/** The words of a command that runs a script in a separate process of Node, with what light-fetch.cjs has. */
export const nodeClient = (script: string) => [
  process.execPath,
  '-r',
  './test/cli/light-fetch.cjs',
  '-e',
  script,
]

/** Runs `exec` in this process; its command is the body of an asynchronous function of Node in a separate one. */
export function execClient(flags: readonly string[], script: string, env: Environment = {}) {
  const words = nodeClient(`(async () => {${script}})()`)
  return command(['exec', ...flags, '--', ...words], { PATH: process.env.PATH ?? '', ...env })
}

/** A directory that is removed after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-emulator-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A file that is removed after the test. */
export function temporaryFile(name: string, content: string | Uint8Array): string {
  const file = join(temporaryDirectory(), name)
  writeFileSync(file, content)
  return file
}
