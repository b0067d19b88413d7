import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run as runCommand } from '../../../src/cli/command-line.ts'
import type { Scale } from '../proof.ts'
import { CORPUS, control, fileName, OBEYED, type Shown } from './corpus.ts'

async function command(shown: Shown, argv: readonly string[]): Promise<void> {
  const said: string[] = []
  const terminal = {
    out: (text: string) => void said.push(text),
    err: (text: string) => void said.push(text),
  }
  await runCommand(argv, {}, { ...terminal, colours: false })
  shown.commands += 1
  const bad = said.find((text) => OBEYED.test(text))
  if (bad !== undefined) shown.found.push(`${JSON.stringify(argv)} prints ${around(bad)}`)
}

/** The control characters in a text with the text around them. */
export function around(text: string): string {
  const at = text.search(OBEYED)
  return JSON.stringify(text.slice(Math.max(0, at - 60), at + 20))
}

/** Runs all commands that print text of other callers, and commands that get such text as arguments. */
export async function commands(shown: Shown, folder: string, scale: Scale): Promise<void> {
  const at = ['--url', `http://127.0.0.1:${shown.emulator.port}`]
  const { data } = (await control(shown, 'GET', '/requests?limit=1000')).body
  const ids = (data as { id: string }[]).map(({ id }) => id)
  for (const argv of [
    ['requests', '--limit', '1000'],
    // The long scale explains every request, the short one every tenth.
    ...ids.filter((_, at) => scale === 'long' || at % 10 === 0).map((id) => ['explain', id]),
    ['faults', 'list'],
    ['faults', 'presets'],
    ['scenario', 'list'],
    ['snapshot', 'list'],
    ['sandbox', 'list'],
    ['status'],
    ['clock'],
    ['clock', 'advance', '1h'],
    ['doctor'],
    ['call', 'GET', 'snapshots/kept'],
    ['faults', 'clear'],
  ]) {
    await command(shown, [...argv, ...at])
  }
  for (const text of CORPUS.filter((each) => !each.includes('\u0000'))) {
    for (const argv of [
      ['explain', text],
      ['snapshot', 'save', text],
      ['scenario', 'start', text],
      ['faults', 'add', text],
    ])
      await command(shown, [...argv, ...at])
    await command(shown, [text])
    await command(shown, ['status', `--${text}`])
    await command(shown, ['clock', 'advance', text, ...at])
    await command(shown, ['status', '--url', text])
  }
  for (const [index, text] of CORPUS.entries()) {
    const settings = join(folder, `settings-${index}.json`)
    writeFileSync(settings, JSON.stringify({ [text]: text, collections: { [text]: [] } }))
    await command(shown, ['validate', settings])
    const name = fileName(text)
    const broken = join(folder, `${name}.json`)
    writeFileSync(broken, `{"x": ${text}`)
    await command(shown, ['validate', broken])
  }
}
