import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, texts } from '../../../test/support/disk-emulator.ts'
import { note, opened } from '../../../test/support/edited-file.ts'
import { said } from '../../../test/support/state-files.ts'

test.each<[string, (text: string) => string, RegExp]>([
  ['no JSON', (text) => text.replace('"one"', 'one'), /sandbox\.json:(\d+):\d+: unexpected "o"/],
  [
    'no state',
    (text) => text.replace('"text": "one"', '"text": 7'),
    /sandbox\.json:(\d+): \/collections\/notes\/0\/text: /,
  ],
  [
    'at odds with itself',
    (text) => text.replace('"text": "one"', '"text": "one", "parent_id": "nobody"'),
    /sandbox\.json:(\d+): \/collections\/notes\/0\/parent_id: There is no note "nobody"/,
  ],
])(
  'an edit that is %s is refused with its line, and kept; the sandbox goes on',
  async (_, change, message) => {
    const emulator = await opened()
    const right = readFileSync(emulator.file, 'utf8')
    const wrong = change(right)
    const line = right.split('\n').findIndex((each) => each.includes('"one"')) + 1
    emulator.save(wrong)
    put(emulator.sandbox, 'b', 'by the API')
    await emulator.persistence.close()
    expect(texts(emulator.sandbox)).toEqual({ a: 'one', b: 'by the API', c: 'three' })
    expect(emulator.notices).toMatchObject([
      { event: 'edit_refused', level: 'error', line, kept: `${emulator.file}.rejected-1` },
    ])
    expect(message.exec(emulator.notices[0]?.message ?? '')?.[1]).toBe(String(line))
    expect(readFileSync(`${emulator.file}.rejected-1`, 'utf8')).toBe(wrong)
    expect(note(emulator.read(), 'b').text).toBe('by the API')
  },
)

test('an edit that is half saved is applied when it is complete', async () => {
  const emulator = await opened()
  const whole = readFileSync(emulator.file, 'utf8').replace('"one"', '"edited"')
  emulator.save(whole.slice(0, 50))
  const checkpoint = emulator.persistence.checkpointNow()
  await expect.poll(() => emulator.timers.waiting.map(({ ms }) => ms)).toEqual([200])
  emulator.timers.fire()
  await expect.poll(() => emulator.timers.waiting.length).toBe(1)
  emulator.save(whole)
  emulator.timers.fire()
  await checkpoint
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['edited', ['edit_taken']])
})

test('JSON that stays incomplete is refused after three more tries, and the file is written again', async () => {
  const emulator = await opened()
  emulator.save('{"format": 1,')
  const checkpoint = emulator.persistence.checkpointNow()
  for (let looks = 0; looks < 3; looks++) {
    await expect.poll(() => emulator.timers.waiting.length).toBe(1)
    emulator.timers.fire()
  }
  await checkpoint
  expect(said(emulator)).toEqual(['edit_refused'])
  expect(readFileSync(`${emulator.file}.rejected-1`, 'utf8')).toBe('{"format": 1,')
  expect(texts(emulator.sandbox)).toEqual({ a: 'one', b: 'two', c: 'three' })
  expect(note(emulator.read(), 'a').text).toBe('one')
})

test('an edit that contradicts later changes of the sandbox is refused completely', async () => {
  const emulator = await opened()
  put(emulator.sandbox, 'd', 'child', { parent_id: 'c' })
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
    document.collections.notes.splice(2, 1)
  })
  await emulator.persistence.checkpointNow()
  expect(texts(emulator.sandbox)).toEqual({ a: 'one', b: 'two', c: 'three', d: 'child' })
  expect(emulator.notices[0]?.message).toContain('/collections/notes/d/parent_id: There is no note "c"')
  expect(said(emulator)).toEqual(['edit_refused'])
})
