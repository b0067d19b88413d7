import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { KEYS } from '../../support/base-state.ts'
import { type Said, send } from '../../support/send.ts'

/** Texts that a browser would run, or a terminal would interpret. */
export const MARKUP = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'-alert(1)-'",
  '</script><svg onload=alert(1)>',
  'javascript:alert(1)',
  '<!--',
  '{{7*7}}',
  '</title><base href=//example.com>',
  '\u2028alert(1)\u2029',
] as const
const CONTROLS = [
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b[2J\u001b[H',
  '\u001b]8;;http://example.com\u001b\\link\u001b]8;;\u001b\\',
  '\u009b31mred',
  '\u007f\b\b\b',
  'over\rwritten',
  'two\nlines',
  'an event\n\nevent: evil\ndata: {}\n\n',
  '\u202eright to left\u202c',
  '\u0000',
] as const
export const CORPUS = [...MARKUP, ...CONTROLS]

// Control characters that must not reach a terminal; only the line feed is allowed, as it separates lines.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
export const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

/** An emulator that contains the corpus, and the results. */
export interface Shown {
  readonly emulator: RunningEmulator
  readonly found: string[]
  responses: number
  /** The number of commands whose output was checked. */
  commands: number
}

export const authorization = `Bearer ${KEYS.KU}`
export const api = ({ emulator }: Shown, method: string, path: string, said: Said = {}) =>
  send({ emulator }, method, `/v1${path}`, { authorization, ...said })
export const control = ({ emulator }: Shown, method: string, path: string, json?: unknown) =>
  send({ emulator }, method, `/__emulator${path}`, { authorization: undefined, json })

function record(index: number, text: string): object {
  const person = { organization_id: 'org-1', email: 'e@example.com', last_name: text }
  return { id: `user-${index}`, ...person, first_name: text, created_at: '2026-01-01T00:00:00.000Z' }
}

/** Writes the corpus to every place that stores or repeats text of a caller. */
export async function plant(shown: Shown): Promise<void> {
  const items = CORPUS.map((text) => ({ file_id: 'file-1', custom_id: text }))
  const batch = {
    prompt: CORPUS.join(),
    output_schema: { type: 'object', properties: {} },
    model: 'm',
    items,
  }
  const { body } = await api(shown, 'POST', '/batch-predictions', { json: batch })
  await control(shown, 'POST', `/batches/${body.id}/complete`)
  for (const [index, text] of CORPUS.entries()) {
    const inUrl = encodeURIComponent(text)
    await api(shown, 'POST', '/pages', { json: { name: text } })
    await api(shown, 'POST', '/pages', { json: { [text]: text } })
    await api(shown, 'POST', '/pages', { raw: text })
    await api(shown, 'POST', '/agents/agent-1/automations', { json: { [text]: text, name: text } })
    await api(shown, 'POST', '/batch-predictions', { json: { ...batch, metadata: { [text]: text } } })
    await api(shown, 'PATCH', '/organization/teamspaces/ts-a', { json: { name: text } })
    await api(shown, 'GET', `/${inUrl}?${inUrl}=${inUrl}`)
    await api(shown, 'GET', `/batch-predictions/${inUrl}`)
    await control(shown, 'PUT', `/state/users/user-${index}`, record(index, text))
    await control(shown, 'GET', `/${inUrl}?${inUrl}=${inUrl}`)
    await control(shown, 'PATCH', '/settings', { [text]: text })
    await control(shown, 'POST', '/requests/verify', { match: { path: text }, count: { exactly: 0 } })
    if (OBEYED.test(text) || !/^[\x20-\x7e]*$/.test(text)) continue
    const headers = { 'idempotency-key': text, 'user-agent': text, 'x-test': text }
    await api(shown, 'POST', '/batch-predictions', { json: batch, headers })
    await api(shown, 'GET', '/data-views', { headers: { 'x-emulator-sandbox': text } })
    await api(shown, 'GET', '/data-views', { authorization: `Bearer ${text}` })
  }
  // These rules come last, because every later request is explained with the decision of each rule.
  for (const text of CORPUS) {
    const rule = { description: text, match: { headers: { 'x-test': text } }, when: { nth: 9 } }
    await control(shown, 'POST', '/faults', { ...rule, do: [{ respond: { status: 500 } }] })
  }
  await api(shown, 'GET', '/data-views', { headers: { 'x-test': MARKUP[0] } })
}

// These characters cannot be in a file name.
export function fileName(text: string): string {
  return text.replaceAll('/', '').replaceAll('\u0000', '')
}

/** Creates a folder of scenarios whose names, descriptions and errors come from the corpus. */
export function scenarios(folder: string): string {
  const scripts = join(folder, 'scripts')
  mkdirSync(scripts)
  for (const [index, text] of CORPUS.entries()) {
    const name = fileName(text)
    const write = (file: string, content: string) => writeFileSync(join(scripts, file), content)
    write(`${name} ${index}.json`, JSON.stringify({ description: text }))
    write(`unknown-${index}.json`, JSON.stringify({ description: text, [text]: text }))
    write(`broken-${index}.mjs`, `throw new Error(${JSON.stringify(text)})\n`)
  }
  const all = JSON.stringify(CORPUS)
  const script = `export default { description: 'Says it all', timeline: [{ at: '1s', do: ({ sandbox }) => {
    for (const text of ${all}) sandbox.log(text)
    throw new Error(${all}.join())
  } }] }\n`
  writeFileSync(join(scripts, 'says.mjs'), script)
  return scripts
}
