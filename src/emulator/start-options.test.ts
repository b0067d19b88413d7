import { expect, test } from 'vitest'
import { type EmulatorOptions, startEmulator } from '../index.ts'

const START = { port: 0, ephemeral: true, rate: 0 } as const

test.for<[options: object, description: string]>([
  [{ fixture: 'demo' }, '/fixture: is not a known field. Did you mean "fixtures"?'],
  [{ port: '4010' }, '/port: must be of the type number, not string'],
  [{ port: 70_000 }, '/port: must be at most 65535'],
  [{ clock: 'yesterday' }, '/clock: must be an ISO 8601 date-time with a zone'],
  [{ clock: new Date(0) }, '/clock: must be of the type string'],
  [{ rate: -1 }, '/rate: must be at least 0'],
  [{ seed: 1.5 }, '/seed: must be'],
  [{ fixtures: 5 }, '/fixtures: must be the name of shipped fixtures, the path of a JSON file, or a'],
  [{ settings: './settings.json' }, '/settings: must be an object'],
  [{ limits: 'off' }, '/limits: must be of the type boolean, not string'],
  [{ auth: 'none' }, '/auth: must be one of "registered", "any"'],
  [{ logger: {} }, '/logger: must have the functions info, warn and error'],
  [{ controlToken: 'of two words' }, '/controlToken: must be visible ASCII characters without spaces'],
  [{ host: '0.0.0.0' }, '/controlToken: is required because other machines can reach the emulator'],
])('a start with %j is refused', async ([options, description]) => {
  const refused = startEmulator({ ...START, ...options } as EmulatorOptions)
  await expect(refused).rejects.toThrow(`startEmulator(): One field is not valid: ${description}`)
})

test('options that are not an object are refused', async () => {
  for (const options of ['demo', null] as unknown[] as EmulatorOptions[])
    await expect(startEmulator(options)).rejects.toThrow('must be of the type object')
})

test('an undefined option counts as absent, and a token allows other addresses', async () => {
  const options = { ...START, host: '0.0.0.0', controlToken: 'open-sesame', fixtures: undefined }
  await using emulator = await startEmulator(options as object as EmulatorOptions)
  expect((await fetch(`${emulator.controlUrl}/clock`)).status).toBe(401)
})
