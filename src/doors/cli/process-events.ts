import type { Terminal } from './invocation.ts'
import { FAILED } from './usage.ts'

/** The terminal of this process. */
export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  colours: process.stderr.isTTY === true,
}

/**
 * What holds for every command: a reader that went away (`| head`) is no error, and a defect of ours ends the process with
 * one clear line instead of a half-working emulator.
 */
export function guardProcess(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', brokenPipe)
  process.on('uncaughtException', (error) => die(error))
  process.on('unhandledRejection', (reason) => die(reason))
}

function brokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

function die(error: unknown): never {
  processTerminal.err(`workspace-emulator stops: ${oneLine(error)}`)
  process.exit(FAILED)
}

/** An error and the place in our code that threw it, on one line. */
export function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const place = /\n\s+at (.+)/.exec(error.stack ?? '')?.[1]
  return `${error.name}: ${error.message}${place === undefined ? '' : ` (at ${place})`}`.replaceAll('\n', ' ')
}
