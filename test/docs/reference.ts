import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { commands, START_OPTIONS } from '../../src/doors/cli/commands.ts'
import { referenceTable } from '../../src/doors/cli/reference.ts'
import { controlRoutes } from '../../src/doors/control/routes/index.ts'
import { Settings } from '../../src/kernel/assumptions.ts'
import type { PrimitiveName } from '../../src/kernel/faults/actions.ts'
import { wireSchemas } from '../../src/kernel/faults/schema/wire.ts'
import { worldSchemas } from '../../src/kernel/faults/schema/world.ts'
import { batchLifecycle } from '../../src/resources/batch-predictions/states.ts'
import { ledger, workspaceService } from '../../src/resources/index.ts'

/** The parts of the README that are made from the code, by the name of their markers. */
export const references: Readonly<Record<string, () => string>> = {
  operations: () =>
    table(
      ['operation', 'request', 'what it does', 'errors', 'contract'],
      [...workspaceService.operations.values()].map(
        ({ name, method, path, summary, dialect, contract, beta }) => [
          code(name),
          code(`${method} ${path}`),
          summary + (beta === true ? ' (beta)' : ''),
          dialect,
          contract ? 'yes' : 'no',
        ],
      ),
    ),
  commands: () =>
    table(
      ['command', 'what it does'],
      commands.map(({ name, args, usage, says }) => [
        code([name, ...(usage === undefined ? args.map((arg) => arg.name) : [usage])].join(' ')),
        says,
      ]),
    ),
  flags: () => referenceTable(START_OPTIONS).trimEnd(),
  control: () =>
    table(
      ['call', 'what it does'],
      controlRoutes(workspaceService).map(({ method, path, summary }) => [
        code(`${method} ${path}`),
        summary,
      ]),
    ),
  presets: () =>
    table(
      ['preset', 'what a client meets'],
      [...workspaceService.presets.values()].map(({ name, says }) => [code(name), says]),
    ),
  primitives: () =>
    table(
      ['primitive', 'parameters', 'what it is for'],
      Object.entries(PRIMITIVES).map(([name, says]) => [code(name), parametersOf(name), says]),
    ),
  scenarios: () => table(['scenario', 'what it is'], shippedScenarios()),
  lifecycle: () => ['```mermaid', 'stateDiagram-v2', '  [*] --> validating', ...arrows(), '```'].join('\n'),
  assumptions: () =>
    table(
      ['item', 'what is open', 'what the emulator does', 'shown'],
      [...ledger.items.values()].map(({ id, open, reading, shows }) => [
        id,
        open,
        reading,
        shows === 'answer' ? 'yes' : '',
      ]),
    ),
  settings: () =>
    table(
      ['key', 'item', 'default', 'meaning'],
      [...ledger.settings.values()]
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ key, item, default: value, says }) => [code(key), item, code(JSON.stringify(value)), says]),
    ),
}

/** The README with every generated part made anew. */
export function withReferences(readme: string): string {
  return Object.entries(references).reduce((text, [name, make]) => {
    const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [start, end] = [text.indexOf(open), text.indexOf(close)]
    if (start === -1 || end < start) throw new Error(`the README has no part between ${open} and ${close}`)
    return `${text.slice(0, start + open.length)}\n${make()}\n${text.slice(end)}`
  }, readme)
}

const PRIMITIVES: Readonly<Record<PrimitiveName, string>> = {
  respond: 'another answer: short for a head and a body',
  head: 'statuses, reasons, versions, header names and their case, 1xx before it',
  body: 'nulls, unknown members, other types, byte order marks, big numbers, encodings, half bodies',
  lines: 'order, repetition, ends and breaks of NDJSON lines',
  frame: 'wrong lengths, chunked or not, bytes behind the end',
  pace: 'latency, drip, splits at chosen places, stalls: always real milliseconds',
  cut: 'the end of the connection: in order, by reset, or never',
  raw: 'bytes that are no HTTP',
  quota: 'what the limiter says, and in which form',
  idem: 'keys that are in use, forgotten, or unique in something else',
  state: 'moves of records: of batches, rows that come and go, reads that lag behind',
  auth: 'keys that expire, are revoked, or turn into another kind',
  clock: 'time that passes, stands still, or is told wrongly',
  deliver: 'webhooks that come twice, late, out of order, forged, or never',
}

function parametersOf(name: string): string {
  const schemas: Readonly<Record<string, unknown>> = {
    ...wireSchemas(),
    ...worldSchemas(workspaceService, new Settings()),
  }
  const json = z.toJSONSchema(schemas[name] as z.ZodType, { io: 'input', unrepresentable: 'any' })
  return Object.keys(json.properties ?? {})
    .map(code)
    .join(', ')
}

function shippedScenarios(): string[][] {
  return readdirSync('scenarios')
    .filter((file) => !file.startsWith('_'))
    .map((file) => {
      const text = readFileSync(join('scenarios', file), 'utf8')
      return [code(file.replace(/\.ts$/, '')), /description:\s*'([^']+)'/.exec(text)?.[1] ?? '']
    })
}

function arrows(): string[] {
  return batchLifecycle.arrows.map(({ from, on, to, because }) => `  ${from} --> ${to}: ${on} (${because})`)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}
