import { z } from 'zod'
import { assumption, type Setting } from '../../../core/assumptions.ts'
import { anyObject, list, listOf, type ShapeOf } from '../../../core/fields.ts'
import type { JsonObject } from '../../../core/json.ts'
import { checkedSettings, setSettings } from '../../../core/sandboxes/change.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { withoutSecret } from '../../../core/secrets.ts'
import { jsonSchema } from '../openapi/parts.ts'
import { dryRun, route } from '../route.ts'

/** One question that the specification leaves open, and the decision of the emulator. */
const assumptionView = () =>
  assumption().extend({
    /** The settings that change the decision. */
    settings: z.array(
      z.strictObject({
        key: z.string(),
        description: z.string(),
        default: z.unknown(),
        value: z.unknown(),
        /** JSON Schema of its values. */
        schema: anyObject(),
      }),
    ),
    /** Number of responses in the request log that rely on it. */
    used: z.int(),
  })

export type AssumptionView = ShapeOf<typeof assumptionView>

/** The settings in force. */
const settingsView = () =>
  z.strictObject({
    object: z.literal('settings'),
    strict: z.boolean(),
    /** Every setting by its dotted key. */
    values: z.record(z.string(), z.unknown()),
    /** The settings that differ from the defaults. */
    overrides: z.record(z.string(), z.unknown()),
  })

export type SettingsView = ShapeOf<typeof settingsView>

/** The assumptions and their settings. */
export const assumptionRoutes = [
  route('GET /assumptions', {
    name: 'assumptions.list',
    summary:
      'List the questions that the specification leaves open, the decisions of the emulator, and how often responses relied on them',
    returns:
      'The assumptions with their settings; used is the number of responses in the request log that rely on each.',
    output: () => listOf(assumptionView()),
    handle: ({ sandbox }) => ({ body: list(assumptionsOf(sandbox)) }),
  }),
  route('GET /settings', {
    name: 'settings.show',
    summary: 'Show the settings in force',
    returns: 'Every setting with its value, and those that differ from the defaults.',
    output: settingsView,
    handle: ({ sandbox }) => ({ body: settingsOf(sandbox) }),
  }),
  route('PATCH /settings', {
    name: 'settings.change',
    summary: 'Change settings by key: null restores the default; with dry_run=true only check them',
    returns: 'The settings in force.',
    input: () => ({ body: anyObject(), query: dryRun() }),
    output: settingsView,
    handle: ({ sandbox, body, query }) => {
      const values = changed(sandbox, body as JsonObject)
      if (query.dry_run) checkedSettings(sandbox, values)
      else setSettings(sandbox, values)
      return { body: settingsOf(sandbox) }
    },
  }),
] as const

function assumptionsOf(sandbox: Sandbox): AssumptionView[] {
  const used = new Map<string, number>()
  for (const { assumed, mentioned } of sandbox.log.entries()) {
    for (const id of [...assumed, ...mentioned]) used.set(id, (used.get(id) ?? 0) + 1)
  }
  const settings = [...sandbox.service.assumptions.settings.values()]
  return [...sandbox.service.assumptions.items.values()].map((item) => ({
    ...item,
    settings: settings.filter((each) => each.item === item.id).map((each) => settingOf(sandbox, each)),
    used: used.get(item.id) ?? 0,
  }))
}

function settingOf(sandbox: Sandbox, setting: Setting<unknown>) {
  const { key, description } = setting
  const value = withoutSecret(sandbox.settings.get(setting))
  const schema = jsonSchema(setting.schema(), 'input')
  return { key, description, default: setting.default, value, schema }
}

function settingsOf({ settings, service: { assumptions } }: Sandbox): SettingsView {
  const values = [...assumptions.settings.values()].map(
    (each) => [each.key, withoutSecret(settings.get(each))] as const,
  )
  return {
    object: 'settings',
    strict: settings.strict,
    values: Object.fromEntries(values),
    overrides: withoutSecret(settings.overrides),
  }
}

// An unknown key is kept, also with null, so that the check of the settings refuses it by name.
function changed({ settings, service: { assumptions } }: Sandbox, changes: JsonObject): JsonObject {
  const values = new Map(Object.entries(settings.overrides as JsonObject))
  for (const [key, value] of Object.entries(changes)) {
    if (value === null && assumptions.settings.has(key)) values.delete(key)
    else values.set(key, value)
  }
  return Object.fromEntries(values)
}
