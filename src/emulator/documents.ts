import { z } from 'zod'
import { fixturesDocument } from '../adapters/fixtures.ts'
import { CONTRACT } from '../adapters/package.ts'
import { scenarioFields } from '../adapters/scenarios/schema.ts'
import { Settings } from '../core/assumptions.ts'
import { draftSchema, storedSchemas } from '../core/faults/rule-schema.ts'
import { intBetween, schemaKey } from '../core/fields.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import { stepAction } from '../core/scenarios/step-actions.ts'
import { stubDraft } from '../core/scenarios/stub.ts'
import { fileFields, listedRecords } from '../core/state/document.ts'
import { MAX_GENERATED } from '../core/state/starting-state.ts'
import { documentFacts } from '../core/state/state.ts'
import { strictObject } from '../core/strict-input.ts'
import { jsonSchema } from '../server/control/openapi/parts.ts'
import { workspaceDocument } from '../server/control/openapi/workspace.ts'
import { startOptions } from './options.ts'
import { scenarioVocabulary } from './scenario-checks.ts'
import { workspaceService as service } from './service.ts'

// The documents of the package, under the default settings. The build writes them into dist/.

const defaults = new Settings()

/** The emulated API in OpenAPI 3.1, at the default address. */
export function openApiDocument(): JsonObject {
  const { host, port } = startOptions
  return workspaceDocument(service, defaults, CONTRACT, `http://${host.default}:${port.default}/v1`)
}

/** The kinds of JSON files that the emulator reads, each with its JSON Schema. */
export const fileSchemas = {
  fixtures: () => schemaOf('Fixtures', fixtures(), withRelativeTimes),
  settings: () => schemaOf('Settings', strictObject({ $schema: schemaKey(), ...settings().shape })),
  'fault-rule': () => schemaOf('Fault rule', draftSchema(service, defaults)),
  scenario: () => schemaOf('Scenario without functions', scenario(), withRelativeTimes),
  state: () => schemaOf('State of a sandbox', state()),
} as const

/** The documents by their files below dist/. The OpenAPI document is last: a build that has written it is complete. */
export const documentFiles: Readonly<Record<string, () => JsonObject>> = {
  ...Object.fromEntries(Object.entries(fileSchemas).map(([name, schema]) => [`${name}.schema.json`, schema])),
  'openapi.json': openApiDocument,
}

// A schema describes the shape of a file; `validate` also checks the rules between its parts.
function schemaOf(
  title: string,
  schema: z.ZodType,
  change = (described: JsonObject) => described,
): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    ...change(jsonSchema(schema, 'input')),
  }
}

const stubs = () => z.array(stubDraft(service)).optional()

function fixtures() {
  const counts = [...service.collections.values()].filter(({ generate }) => generate !== undefined)
  return strictObject({
    ...fixturesDocument.shape,
    organization: service.collections.get('organizations')?.schema(defaults).optional() ?? z.never(),
    generate: optionals(counts, () => intBetween(0, MAX_GENERATED)).optional(),
    collections: collections().optional(),
    stubs: stubs(),
  })
}

function collections() {
  return optionals([...service.collections.values()], ({ schema }) => z.array(schema(defaults)))
}

function settings() {
  return optionals(
    [...service.assumptions.settings.values()].map((each) => ({ name: each.key, ...each })),
    ({ schema, description, default: value }) => schema().meta({ description, default: value }),
  )
}

function scenario() {
  const { timeline, ...fields } = scenarioFields(scenarioVocabulary())
  const step = { ...timeline.unwrap().element.shape, do: z.array(stepAction(service, defaults)).min(1) }
  const short = Object.entries(service.script?.settingAliases ?? {})
  return strictObject({
    ...fields,
    fixtures: fixtures().optional(),
    settings: settings().optional(),
    ...Object.fromEntries(short.map(([name, { schema }]) => [name, schema().optional()])),
    faults: z.array(draftSchema(service, defaults)).optional(),
    stubs: stubs(),
    timeline: z.array(strictObject(step)).optional(),
    on: strictObject({}).optional(),
  })
}

function state() {
  const { rule, counter } = storedSchemas(service, defaults)
  const facts = documentFacts().shape
  const lists = { ...listedRecords(), faults: rule, fault_counters: counter }
  const filled = Object.entries(lists).map(([name, record]) => {
    const isNeeded = !facts[name as keyof typeof lists].safeParse(undefined).success
    return [name, isNeeded ? z.array(record) : z.array(record).optional()]
  })
  return strictObject({
    ...fileFields(),
    ...facts,
    settings: settings().optional(),
    collections: collections().optional(),
    own: z.record(z.string(), z.array(z.looseObject({ id: z.string() }))).optional(),
    ...Object.fromEntries(filled),
  })
}

function optionals<T extends { readonly name: string }>(all: readonly T[], schema: (of: T) => z.ZodType) {
  return strictObject(Object.fromEntries(all.map((each) => [each.name, schema(each).optional()])))
}

const RELATIVE: JsonObject = {
  type: 'string',
  pattern: '^[+-]',
  description: 'A time before or after the start: "-30d", "+1h".',
}

/** Fields whose names end in `_at` may be relative to the start. */
function withRelativeTimes(described: JsonObject): JsonObject {
  const text = JSON.stringify(described, (key, value) =>
    key.endsWith('_at') && isObject(value) ? { anyOf: [value, RELATIVE] } : value,
  )
  return JSON.parse(text) as JsonObject
}
