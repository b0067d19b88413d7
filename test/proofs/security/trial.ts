import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { KEYS } from '../../support/base-state.ts'
import { type Said, type Sent, send } from '../../support/send.ts'

/** Names that careless code does not treat as keys. */
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

/** An object with one own property, whatever its name. */
export const own = (key: string, value: unknown): Record<string, unknown> =>
  Object.fromEntries([[key, value]])
// Lone surrogates have no UTF-8, so no URL can contain them.
export const inUrl = NAMES.filter((name) => !/\p{Surrogate}/u.test(name))
export const inHeader = NAMES.filter((name) => /^[\x21-\x7e]+$/.test(name))

/** The results of names in a place. */
export interface Trial {
  readonly emulator: RunningEmulator
  readonly found: string[]
  /** Names that were accepted and returned unchanged. */
  kept: number
  /** Names that were refused without a change. */
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

/** Checks one trial: the name is kept unchanged, or refused without a trace. */
export async function judge(
  trial: Trial,
  what: string,
  request: () => Promise<Sent>,
  isKept: (response: Sent) => Promise<boolean> | boolean,
): Promise<void> {
  const { store } = trial.emulator.sandbox
  const before = store.revision
  const response = await request()
  if (response.status >= 500 && response.status !== 501) trial.found.push(`${what} got ${response.status}`)
  else if (response.status >= 400) {
    trial.refused += 1
    if (store.revision !== before) trial.found.push(`${what} is refused and changes the state`)
  } else if (await isKept(response)) trial.kept += 1
  else trial.found.push(`${what} is accepted and not returned`)
}
