import { randomBytes } from 'node:crypto'
import { type Ask, askOver } from './ask.ts'
import type { SandboxStart } from './emulator-client.ts'
import { EmulatorError } from './emulator-error.ts'
import type { Transport } from './transport.ts'

/** A name that no other sandbox has: clients of several processes share one emulator, so that counting would not do. */
export function freshName(): string {
  return `w-${randomBytes(6).toString('hex')}`
}

/** Whether anything is said about how a sandbox starts. */
export function saysAnything(start: SandboxStart = {}): boolean {
  return Object.values(start).some((value) => value !== undefined)
}

/** Makes a sandbox, or finds the one that is there. @returns whether it was made */
export async function makeUnlessThere(transport: Transport, ask: Ask, name: string): Promise<boolean> {
  try {
    await ask('POST /sandboxes', { body: { name } })
    return true
  } catch (error) {
    if (!(error instanceof EmulatorError && error.status === 409)) throw error
    // One that somebody else is just making is waited for. A conflict about anything else is one about this, too.
    await askOver(transport, name)('GET /clock')
    return false
  }
}

/** Makes a sandbox as it is asked for, or none at all. */
export async function makeSandbox(
  transport: Transport,
  ask: Ask,
  name: string,
  { fromSnapshot, rate, ...start }: SandboxStart = {},
): Promise<void> {
  const settings = start.settings === undefined ? undefined : { ...start.settings }
  await ask('POST /sandboxes', { body: { ...start, settings, name, from_snapshot: fromSnapshot } })
  if (rate === undefined) return
  try {
    await askOver(transport, name)('PATCH /clock', { body: { rate } })
  } catch (error) {
    await ask('DELETE /sandboxes/{name}', { params: { name } })
    throw error
  }
}
