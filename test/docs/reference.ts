import { resolve } from 'node:path'
import * as z from 'zod'
import { builtInScenarios } from '../../src/adapters/scenarios/built-in.ts'
import { allCommands } from '../../src/cli/command-line.ts'
import { Settings } from '../../src/core/assumptions.ts'
import { groupBy } from '../../src/core/conduct/observed.ts'
import { verdicts } from '../../src/core/conduct/verdicts.ts'
import { lastsOf } from '../../src/core/faults/preset.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { batchLifecycle } from '../../src/service/batch-predictions/states.ts'
import { checkedFields } from '../../src/service/uncontracted.ts'
import { START_OPTIONS, shownDefault, usageOf, variableOf } from '../../src/terminal/options.ts'
import { programmeOf } from '../../src/tools/certify/programme.ts'
import { conclusionVerdicts } from '../../src/tools/certify/verdicts.ts'
import { tools } from '../../src/tools/mcp/tools.ts'
import { CLIENTS, writtenCards } from '../certify/cards.ts'
import { FOREIGN, judgedFindings } from '../certify/foreign.ts'
import { galleryReference } from '../gallery/page.ts'
import { FOLDERS } from '../shape/folders.ts'
import { brokenByTable } from '../tomorrow/clients/broken-by.ts'
import { generalPresets, operationRows, resourceRows } from './support-table.ts'

const { assumptions } = workspaceService

export const commands = await allCommands()

/** The generated parts of the pages, by the name of their markers. */
export const references: Readonly<Record<string, () => string>> = {
  programme,
  cards: () => cardTables(Object.keys(CLIENTS)),
  brokenby: () => table(...brokenByTable()),
  foreign: () => cardTables(FOREIGN),
  judged: () =>
    table(
      ['client', 'case', 'finding', 'judgement'],
      judgedFindings().map((each) => [
        each.client,
        code(each.case),
        code(each.finding),
        each.judgement.replace('right: ', ''),
      ]),
    ),
  conclusions: () => verdictTable(conclusionVerdicts.map((each) => ({ ...each, severity: 'error' }))),
  operations: () =>
    table(
      ['operation', 'request', 'what it does', 'errors', 'contract'],
      [...workspaceService.operations.values()].map(
        ({ name, method, path, summary, errorFormat, contract, beta }) => [
          code(name),
          code(`${method} ${path}`),
          summary + (beta === true ? ' (beta)' : ''),
          errorFormat,
          contract ? 'yes' : 'no',
        ],
      ),
    ),
  supported: () =>
    table(
      ['operation', 'assumptions', 'presets', 'collections', 'operations that create records'],
      operationsUsed,
    ),
  everypreset: () => table(['family', 'presets for every operation'], generalPresets()),
  folders: () =>
    table(
      ['in `src/`', 'question', 'answer'],
      FOLDERS.map(({ name, question, answer }) => [name.split(', ').map(code).join(', '), question, answer]),
    ),
  resources: () => table(['resource', 'collections', 'control calls'], resourceRows()),
  commands: () =>
    table(
      ['command', 'what it does'],
      commands.map(({ name, args = {}, usage, description }) => [
        code([name, ...(usage === undefined ? Object.keys(args) : [usage])].join(' ')),
        description,
      ]),
    ),
  tools: () =>
    table(
      ['tool', 'what it does', 'changes'],
      tools.map(({ name, description, effect }) => [
        code(name),
        description,
        { reads: 'nothing', changes: 'adds', destroys: 'replaces or removes' }[effect],
      ]),
    ),
  flags: () =>
    table(
      ['flag', 'environment variable', 'default', 'meaning'],
      Object.entries(START_OPTIONS).map(([name, option]) => [
        code(usageOf(name, option)),
        code(variableOf(name, option)),
        shownDefault(option),
        option.description,
      ]),
    ),
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
      ['preset', 'lasts', 'what a client meets'],
      [...workspaceService.presets.values()].map((preset) => [
        code(preset.name),
        lastsOf(preset).replace('_', ' '),
        preset.description,
      ]),
    ),
  primitives: () =>
    table(
      ['primitive', 'parameters', 'what it is for'],
      [...workspaceService.primitives.values()].map(({ name, description, schema }) => [
        code(name),
        parametersOf(schema(workspaceService, new Settings())),
        description,
      ]),
    ),
  verdicts: () => verdictTable(verdicts),
  gallery: galleryReference,
  scenarios: () => table(['scenario', 'what it is'], builtIn),
  records,
  lifecycle: () => ['```mermaid', 'stateDiagram-v2', '  [*] --> validating', ...arrows(), '```'].join('\n'),
  assumptions: () => {
    const withSetting = new Set([...assumptions.settings.values()].map(({ item }) => item))
    return table(
      ['item', 'what is open', 'what the emulator does'],
      [...assumptions.items.values()]
        .filter(
          ({ id, unnamed, unsettled }) =>
            unnamed === undefined && (unsettled !== undefined || !withSetting.has(id)),
        )
        .map(({ id, open, decision }) => [id, open, decision]),
    )
  },
  settings: () =>
    table(
      ['key', 'item', 'default', 'meaning'],
      [...assumptions.settings.values()]
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ key, item, default: value, description }) => [
          code(key),
          item,
          code(JSON.stringify(value)),
          description,
        ]),
    ),
}

type Verdict = Readonly<Record<'code' | 'severity' | 'description' | 'section' | 'fix', string>>

function verdictTable(all: readonly Verdict[]): string {
  return table(
    ['verdict', 'severity', 'what the client does', 'section', 'fix'],
    all.map((each) => [code(each.code), each.severity, each.description, each.section, each.fix]),
  )
}

/** The cases of `certify` by class; presets of one operation in the order of the presets. */
function programme(): string {
  const cases = programmeOf(workspaceService, new Settings(), true)
  const classes = groupBy(cases, (each) => each.class)
  return table(
    ['class', 'operations', 'cases'],
    [...classes].map(([name, members]) => [
      code(name),
      CLASS_MEANINGS[name] ?? '',
      members.map((each) => code(each.name.slice(name.length + 1))).join(', '),
    ]),
  )
}

const CLASS_MEANINGS: Readonly<Record<string, string>> = {
  read: 'GET with a JSON response',
  list: 'GET of a page with a cursor or an offset',
  poll: 'GET of a record that makes progress',
  stream: 'GET of a stream of lines',
  'create-with-key': 'POST that honours Idempotency-Key, sent with one',
  'create-without-key': 'POST that creates a record, sent without a key',
  action: 'POST about an existing record',
  webhook: 'none; only with an adapter',
  tomorrow: 'any; `event` is about webhooks',
}

/** Counts of each client's card, and the cases that some client did not pass. */
function cardTables(names: readonly string[]): string {
  const written = writtenCards()
  const all = [...new Set(names.flatMap((name) => Object.keys(written[name] ?? {})))]
  const resultOf = (name: string, each: string) => written[name]?.[each] ?? ''
  const count = (name: string, fits: (result: string) => boolean) =>
    String(all.filter((each) => fits(resultOf(name, each))).length)
  const KNOWN = ['passed', 'skipped', 'not reached']
  const counts = [
    ...KNOWN.map((result) => [result, ...names.map((name) => count(name, (each) => each === result))]),
    ['failed', ...names.map((name) => count(name, (each) => each !== '' && !KNOWN.includes(each)))],
  ]
  const open = all.filter((each) => names.some((name) => resultOf(name, each) !== 'passed'))
  const rows = open.map((each) => [code(each), ...names.map((name) => resultOf(name, each))])
  return `${table(['cases', ...names], counts)}\n\n${table(['not passed by all', ...names], rows)}`
}

export function withReferences(page: string): string {
  return page.replace(/<!-- ([a-z]+) -->\n[\s\S]*?<!-- \/\1 -->/g, (_part, name: string) => {
    const make = references[name]
    if (make === undefined)
      throw new Error(
        `No code writes the part "${name}"; the parts are ${Object.keys(references).join(', ')}.`,
      )
    return `<!-- ${name} -->\n${make()}\n<!-- /${name} -->`
  })
}

/** The fields of the records of each collection, one table for each, from the schema that validates the records. */
function records(): string {
  const settings = new Settings()
  return [...workspaceService.collections.values()]
    .map(({ name, schema, generate, secrets }) => {
      const whole = schema(settings)
      const opaque = checkedFields.get(whole as never)?.fields
      const { properties = {}, required = [] } = jsonSchema(opaque ?? whole)
      const rows = Object.entries(properties).flatMap(([field, shape]) => {
        const own = [rowOf(field, shape as JsonSchema, required.includes(field), secrets.includes(field))]
        if (field !== '_emulator') return own
        const { properties: inner = {}, required: needed = [] } = shape as JsonSchema
        return [
          ...own,
          ...Object.entries(inner).map(([key, value]) =>
            rowOf(`_emulator.${key}`, value as JsonSchema, needed.includes(key), secrets.includes(key)),
          ),
        ]
      })
      const notes = [
        ...(generate === undefined ? [] : ['`generate` can invent records.']),
        ...(opaque === undefined ? [] : ['Other fields are kept and returned as given.']),
      ].map((note) => `${note}\n\n`)
      return `### ${name}\n\n${notes.join('')}${table(['field', 'required', 'type', 'default'], rows)}`
    })
    .join('\n\n')
}

type JsonSchema = z.core.JSONSchema.JSONSchema

function jsonSchema(schema: unknown): JsonSchema {
  return z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' }) as JsonSchema
}

function rowOf(field: string, shape: JsonSchema, required: boolean, secret: boolean): string[] {
  const value = shape.default === undefined ? '' : code(JSON.stringify(shape.default))
  return [code(field), required ? 'yes' : '', typeOf(shape) + (secret ? ', a secret' : ''), value]
}

function typeOf(shape: JsonSchema): string {
  const choices = shape.anyOf ?? shape.oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ')
  if (shape.not !== undefined) return 'computed: leave it out'
  if (shape.const !== undefined) return code(JSON.stringify(shape.const))
  if (shape.enum !== undefined) return shape.enum.map((each) => code(JSON.stringify(each))).join(', ')
  if (shape.type === 'array')
    return `array of ${shape.items === undefined ? 'any' : typeOf(shape.items as JsonSchema)}`
  if (shape.type === 'object' && shape.properties !== undefined) {
    return `object with ${Object.keys(shape.properties).map(code).join(', ')}`
  }
  if (shape.format === 'date-time') return 'instant'
  return [shape.type ?? 'any'].flat().join(' or ')
}

function parametersOf(schema: z.ZodType): string {
  return Object.keys(jsonSchema(schema).properties ?? {})
    .map(code)
    .join(', ')
}

const builtIn = (await builtInScenarios(resolve('scenarios'))).map(({ name, description }) => [
  code(name),
  description ?? '',
])

const operationsUsed = await operationRows()

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
