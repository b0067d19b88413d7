import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command, temporaryDirectory } from '../cli/in-process.ts'

export async function imported(har: string | Uint8Array, flags: readonly string[] = []) {
  const folder = temporaryDirectory()
  const [file, out, settingsOut, data] = ['a.har', 'out.json', 'settings.json', 'data'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  writeFileSync(file, har)
  const given = ['--out', out, '--settings-out', settingsOut, '--data', data, '--json', ...flags]
  const { code, err, out: printed } = await command(['import', file, ...given])
  const { error, ...report } = JSON.parse(code === 0 ? printed : err)
  const rows: readonly { collection: string; records: number }[] = report.records ?? []
  return {
    ...{ code, err, report, out, settingsOut },
    /** The number of records by collection. */
    counts: Object.fromEntries(rows.map(({ collection, records }) => [collection, records])),
    /** The message of a refusal. */
    message: error?.message?.replaceAll(folder, ''),
    read: (path: string) => JSON.parse(readFileSync(path, 'utf8')),
  }
}
