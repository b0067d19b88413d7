import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { folder, type Opened, type OpenOptions, open } from './disk-emulator.ts'

export function stateFile(): string {
  return join(folder(onTestFinished), 'data', 'sandbox.json')
}

/** Opens a state file and closes it after the test. */
export async function opened(file: string, options: OpenOptions = {}): Promise<Opened> {
  const result = await open(file, options)
  onTestFinished(() => result.persistence.close())
  return result
}

/** Copies the files as they would be after `kill -9` of this process: without a checkpoint, and without the lock. */
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
