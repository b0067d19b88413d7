import { expect, test } from 'vitest'
import { command, temporaryFile } from './in-process.ts'

const FILES = [
  ['fixtures', 'sandbox.json', '{"extends": "demo"}\r\n'],
  ['settings', 'settings.json', '{"status.conflict": 422}\r\n'],
  ['a scenario', 'slow.json', '{"description": "x",\r\n"settings": {"status.conflict": 422}}\r\n'],
  [
    'a script',
    'quick.ts',
    'import { defineScenario } from "agent-workspace-emulator"\r\nexport default defineScenario({})\r\n',
  ],
] as const

test.for(FILES)(
  '%s with a byte order mark and CRLF, as editors on Windows write it, is read',
  async ([, name, text]) => {
    const { out } = await command(['validate', temporaryFile(name, `\uFEFF${text}`)])
    expect(out).toMatch(/: ok/)
  },
)

test.for(FILES)('%s in UTF-16 is named', async ([, name, text]) => {
  const file = temporaryFile(name, Buffer.from(`\uFEFF${text}`, 'utf16le'))
  const { out } = await command(['validate', file])
  expect(out).toContain(`${file}: is UTF-16, not UTF-8 text; save it as UTF-8`)
})

test('an invisible character in a file is named by its code point', async () => {
  const file = temporaryFile('sandbox.json', '{\n\u200b"extends": "demo"}')
  const { out } = await command(['validate', file])
  expect(out).toContain(`${file}:2: is not JSON: unexpected the invisible character U+200B`)
})
