import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { folder, type Opened, type OpenOptions, open } from './disk-emulator.ts'

export function stateFile(): string {
  return join(folder(onTestFinished), 'data', 'sandbox.json')
}

/** Opens, and closes when the test is over. */
export async function opened(file: string, options: OpenOptions = {}): Promise<Opened> {
  const result = await open(file, options)
  onTestFinished(() => result.persistence.close())
  return result
}

/** Leaves the files as a process that is killed now would: no checkpoint, no farewell. The lock is opened for the next. */
export function killed(file: string): string {
  const copy = join(folder(onTestFinished), 'sandbox.json')
  for (const name of readdirSync(join(file, '..'))) {
    if (!name.endsWith('.lock')) writeFileSync(join(copy, '..', name), readFileSync(join(file, '..', name)))
  }
  return copy
}

export function said({ notices }: Opened): string[] {
  return notices.map(({ event }) => event)
}
