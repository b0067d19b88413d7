import { didYouMean } from '../core/did-you-mean.ts'
import { syntaxIssue } from '../core/json-text.ts'
import { call, sandboxCommand } from '../terminal/call-command.ts'
import { CommandFailed } from '../terminal/command.ts'
import { columns, show, table } from '../terminal/print.ts'

const KEY = 'key of the setting, such as batch.unknown_files'

export const settingsCommands = [
  sandboxCommand('settings get', {
    description: 'Show the settings in force, or one of them',
    args: { '[key]': KEY },
    run: async (ask, invocation) => {
      const body = await ask('GET /settings')
      const [key] = invocation.args
      if (key === undefined) {
        const isChanged = (name: string) => Object.hasOwn(body.overrides, name)
        const rows = Object.entries(body.values).map(([name, value]) => [
          ...[name, JSON.stringify(value), isChanged(name) ? 'changed' : ''],
        ])
        return show(invocation, body, columns(rows))
      }
      if (!Object.hasOwn(body.values, key))
        throw new CommandFailed(
          `There is no setting "${key}".${didYouMean(key, Object.keys(body.values))} "workspace-emulator settings" lists them.`,
        )
      const value = body.values[key]
      return show(invocation, { key, value }, [JSON.stringify(value)])
    },
  }),
  call('settings set', 'PATCH /settings', {
    description: 'Change a setting: null restores the default',
    args: { '<key>': KEY, '<value>': 'JSON; any other text is a string' },
    body: ({ key = '', value = '' }) => ({ [key]: syntaxIssue(value) ? value : JSON.parse(value) }),
    lines: ({ values }, { key = '' }) => [`${key} = ${JSON.stringify(values[key])}`],
  }),
  call('assumptions', 'GET /assumptions', {
    description:
      'List the questions that the specification leaves open, the decisions of the emulator, and how often they were used',
    lines: ({ data }) => {
      const keys = (each: (typeof data)[number]) => each.settings.map(({ key }) => key).join(' ')
      const rows = data.map((each) => [each.id, each.used, each.decision, keys(each)])
      return table(['ID', 'USED', 'DECISION', 'SETTINGS'], rows)
    },
  }),
]
