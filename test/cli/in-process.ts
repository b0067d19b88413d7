import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { run } from '../../src/adapters/cli/command-line.ts'
import type { Environment } from '../../src/adapters/cli/options.ts'

/** The output of a command and its exit code. */
export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command in this process. @param width the number of columns of its terminal; absent: it has none */
export async function command(
  argv: readonly string[],
  env: Environment = {},
  width?: number,
): Promise<Outcome> {
  const out: string[] = []
  const err: string[] = []
  const terminal = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    colours: false,
    width,
  }
  const code = await run(argv, env, terminal)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** A directory that is removed after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-emulator-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A file that is removed after the test. */
export function temporaryFile(name: string, content: string): string {
  const file = join(temporaryDirectory(), name)
  writeFileSync(file, content)
  return file
}
