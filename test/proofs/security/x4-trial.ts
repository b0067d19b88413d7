import type { RunningEmulator } from '../../../src/emulator.ts'
import { KEYS } from '../../support/base-state.ts'
import { type Said, type Sent, send } from '../../support/send.ts'

/** What careless code takes for something else than a key. */
export const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'length',
  '',
  ' ',
  '.',
  '..',
  '../x',
  'a/b',
  'a~1b',
  '%2e%2e',
  '\u0000',
  '\u2028',
  '\u{1f600}',
  '\ud800',
] as const

/** An object with one member of its own, whatever its name. */
export const own = (key: string, value: unknown): Record<string, unknown> =>
  Object.fromEntries([[key, value]])
// Lone surrogates have no UTF-8, so that no URL can carry them.
export const inUrl = NAMES.filter((name) => !/\p{Surrogate}/u.test(name))
export const inHeader = NAMES.filter((name) => /^[\x21-\x7e]+$/.test(name))

/** What a place of names makes of one. */
export interface Trial {
  readonly emulator: RunningEmulator
  readonly found: string[]
  /** Tries that were accepted and came back as they were. */
  kept: number
  /** Tries that were refused, and changed nothing. */
  refused: number
  api(method: string, path: string, said?: Said): Promise<Sent>
  control(method: string, path: string, json?: unknown): Promise<Sent>
}

/** Trials against one emulator. */
export function trialOn(emulator: RunningEmulator, found: string[]): Trial {
  const authorization = `Bearer ${KEYS.KU}`
  return {
    emulator,
    found,
    kept: 0,
    refused: 0,
    api: (method, path, said = {}) => send({ emulator }, method, `/v1${path}`, { authorization, ...said }),
    control: (method, path, json) =>
      send({ emulator }, method, `/__emulator${path}`, { authorization: undefined, json }),
  }
}

/** Judges one try: kept as it is, or refused without a trace. Never anything between. */
export async function judge(
  trial: Trial,
  what: string,
  request: () => Promise<Sent>,
  isKept: (response: Sent) => Promise<boolean> | boolean,
): Promise<void> {
  const { store } = trial.emulator.sandbox
  const before = store.revision
  const response = await request()
  if (response.status >= 500 && response.status !== 501)
    trial.found.push(`${what} is answered ${response.status}`)
  else if (response.status >= 400) {
    trial.refused += 1
    if (store.revision !== before) trial.found.push(`${what} is refused and changes the state`)
  } else if (await isKept(response)) trial.kept += 1
  else trial.found.push(`${what} is accepted and does not come back`)
}
