import type { Setting } from '../../../core/assumptions.ts'
import { anyObject } from '../../../core/fields.ts'
import type { JsonObject } from '../../../core/json.ts'
import { setSettings } from '../../../core/sandboxes/change.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { withoutSecret } from '../../../core/secrets.ts'
import { route } from '../route.ts'

/** The assumption assumptions and the settings that it offers. */
export const assumptionRoutes = [
  route({
    name: 'assumptions.list',
    method: 'GET',
    path: '/assumptions',
    summary:
      'List what the specification leaves open, what is done about it, and how often an answer rested on it',
    answers: 'The assumptions, with the settings of each item; used counts the entries of the request log.',
    handle: ({ sandbox }) => ({ body: { object: 'list', data: assumptionsOf(sandbox) } }),
  }),
  route({
    name: 'settings.show',
    method: 'GET',
    path: '/settings',
    summary: 'Show the settings in force',
    answers: 'Every setting with its value, and those that differ from the defaults.',
    handle: ({ sandbox }) => ({ body: settingsOf(sandbox) }),
  }),
  route({
    name: 'settings.change',
    method: 'PATCH',
    path: '/settings',
    summary: 'Change settings by key: null goes back to the default',
    answers: 'The settings afterwards.',
    body: anyObject,
    handle: ({ sandbox, body }) => {
      setSettings(sandbox, changed(sandbox, body as JsonObject))
      return { body: settingsOf(sandbox) }
    },
  }),
] as const

function assumptionsOf(sandbox: Sandbox) {
  const used = new Map<string, number>()
  for (const { assumed } of sandbox.log.entries()) {
    for (const id of assumed) used.set(id, (used.get(id) ?? 0) + 1)
  }
  const settings = [...sandbox.assumptions.settings.values()]
  return [...sandbox.assumptions.items.values()].map((item) => ({
    ...item,
    settings: settings.filter((each) => each.item === item.id).map((each) => settingOf(sandbox, each)),
    used: used.get(item.id) ?? 0,
  }))
}

function settingOf(sandbox: Sandbox, setting: Setting<unknown>) {
  const { key, description } = setting
  return { key, description, default: setting.default, value: withoutSecret(sandbox.settings.get(setting)) }
}

function settingsOf({ settings, assumptions }: Sandbox) {
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

// An unknown key stays in, also with null, so that the assumptions refuses it by name.
function changed({ settings, assumptions }: Sandbox, changes: JsonObject): JsonObject {
  const values = new Map(Object.entries(settings.overrides as JsonObject))
  for (const [key, value] of Object.entries(changes)) {
    if (value === null && assumptions.settings.has(key)) values.delete(key)
    else values.set(key, value)
  }
  return Object.fromEntries(values)
}
