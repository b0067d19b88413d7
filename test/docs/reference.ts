import { resolve } from 'node:path'
import * as z from 'zod'
import { allCommands } from '../../src/adapters/cli/command-line.ts'
import { referenceTable, START_OPTIONS } from '../../src/adapters/cli/options.ts'
import { controlRoutes } from '../../src/adapters/control/routes/index.ts'
import { builtInScenarios } from '../../src/adapters/scenarios/built-in.ts'
import { Settings } from '../../src/core/assumptions.ts'
import { lastsOf } from '../../src/core/faults/preset.ts'
import { batchLifecycle } from '../../src/resources/batch-predictions/states.ts'
import { assumptions } from '../../src/resources/index.ts'
import { checkedFields } from '../../src/resources/uncontracted.ts'
import { workspaceService } from '../../src/service.ts'

export const commands = await allCommands()

/** The generated parts of the pages, by the name of their markers. */
export const references: Readonly<Record<string, () => string>> = {
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
  commands: () =>
    table(
      ['command', 'what it does'],
      commands.map(({ name, args = [], usage, description }) => [
        code([name, ...(usage === undefined ? args.map((arg) => arg.name) : [usage])].join(' ')),
        description,
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
  scenarios: () => table(['scenario', 'what it is'], builtIn),
  records,
  lifecycle: () => ['```mermaid', 'stateDiagram-v2', '  [*] --> validating', ...arrows(), '```'].join('\n'),
  assumptions: () =>
    table(
      ['item', 'what is open', 'what the emulator does', 'named by responses'],
      [...assumptions.items.values()].map(
        ({ id, open, decision, reportedIn, unnamed, unsettled = 'yes' }) => [
          id,
          open,
          decision,
          unnamed ??
            (reportedIn === 'response'
              ? unsettled.replace(/^(?!yes$)/, 'yes, also with every setting: ')
              : 'only in the request log'),
        ],
      ),
    ),
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

/** A page with all its generated parts updated. */
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

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly not?: JsonSchema
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

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
  if (shape.type === 'array') return `array of ${shape.items === undefined ? 'any' : typeOf(shape.items)}`
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
