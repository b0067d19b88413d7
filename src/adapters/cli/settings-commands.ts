import { didYouMean } from '../../core/did-you-mean.ts'
import type { Json } from '../../core/json.ts'
import { syntaxIssue } from '../json-text.ts'
import { callCommand } from './call-command.ts'
import { CommandFailed, command, SANDBOX_OPTIONS } from './command.ts'
import { controlOf } from './control-client.ts'
import { cell, columns, linesOf, show } from './print.ts'

const KEY = 'key of the setting, such as batch.unknown_files'

export const settingsCommands = [
  ...['settings', 'settings get'].map((name) =>
    command({
      name,
      description: 'Show the settings in force, or one of them',
      ...(name === 'settings' ? {} : { args: [{ name: '[key]', description: KEY }] }),
      options: SANDBOX_OPTIONS,
      run: async (invocation) => {
        const body = await controlOf(invocation.options)('GET /settings')
        const [key] = invocation.args
        if (key === undefined) return show(invocation, body, columns(settingRows(body)))
        const value = settingOf(body.values, key)
        return show(invocation, { key, value }, [JSON.stringify(value)])
      },
    }),
  ),
  callCommand({
    name: 'settings set',
    description: 'Change a setting: null restores the default',
    args: [
      { name: '<key>', description: KEY },
      { name: '<value>', description: 'JSON; any other text is a string' },
    ],
    route: 'PATCH /settings',
    body: ({ key = '', value = '' }) => ({ [key]: jsonOrText(value) }),
    lines: ({ values }, { key = '' }) => [`${key} = ${JSON.stringify(values[key])}`],
  }),
]

export const assumptionCommands = [
  callCommand({
    name: 'assumptions',
    description:
      'List the questions that the specification leaves open, the decisions of the emulator, and how often they were used',
    route: 'GET /assumptions',
    lines: ({ data }) =>
      columns([
        ['ID', 'USED', 'DECISION', 'SETTINGS'],
        ...data.map(({ id, used, settings, decision }) => [
          id,
          cell(used),
          decision,
          settings.map(({ key }) => key).join(' '),
        ]),
      ]),
  }),
]

export const stubCommands = [
  ...['stub', 'stub list'].map((name) =>
    callCommand({
      name,
      description: 'List the stubs of endpoints without a contract',
      route: 'GET /stubs',
      columns: ['id', 'source', 'method', 'path', 'status'],
    }),
  ),
  callCommand({
    name: 'stub add',
    description: 'Create a stub for an endpoint without a contract, or a list of stubs',
    args: [
      {
        name: '<stub>',
        description:
          'JSON in quotes, or the path of a JSON file: {"method", "path", "status", "headers", "body"}',
      },
    ],
    route: 'POST /stubs',
    body: 'stub',
    lines: (body) => linesOf('data' in body ? body : { data: [body] }, ['id', 'method', 'path', 'status']),
  }),
  callCommand({
    name: 'stub show',
    description: 'Show a stub',
    args: [{ name: '<id>', description: 'the stub, as stub lists it' }],
    route: 'GET /stubs/{id}',
  }),
  command({
    name: 'stub remove',
    description: 'Remove a stub, or all',
    args: [{ name: '[id]', description: 'the stub, as stub lists it' }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const ask = controlOf(invocation.options)
      const [id] = invocation.args
      if (id !== undefined) {
        const stub = await ask('DELETE /stubs/{id}', { params: { id } })
        return show(invocation, stub, [`Removed: ${id}.`])
      }
      const body = await ask('DELETE /stubs')
      const { removed } = body
      return show(invocation, body, [
        removed.length === 0 ? 'There is no stub.' : `Removed: ${removed.join(', ')}.`,
      ])
    },
  }),
]

type Values = Readonly<Record<string, unknown>>

function settingRows({
  values,
  overrides,
}: {
  readonly values: Values
  readonly overrides: Values
}): string[][] {
  return Object.entries(values).map(([key, value]) => [
    key,
    JSON.stringify(value),
    Object.hasOwn(overrides, key) ? 'changed' : '',
  ])
}

function settingOf(values: Values, key: string): unknown {
  if (Object.hasOwn(values, key)) return values[key]
  throw new CommandFailed(
    `There is no setting "${key}".${didYouMean(key, Object.keys(values))} "workspace-emulator settings" lists them.`,
  )
}

function jsonOrText(text: string): Json {
  return syntaxIssue(text) === undefined ? (JSON.parse(text) as Json) : text
}
