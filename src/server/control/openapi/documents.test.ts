import { expect, test } from 'vitest'
import { library } from '../../../../test/support/library.ts'
import { Settings } from '../../../core/assumptions.ts'
import type { JsonObject } from '../../../core/json.ts'
import { service } from '../../../core/service.ts'
import { serviceFacts } from '../../../emulator/service.ts'
import { controlRoutes } from '../routes/index.ts'
import { controlDocument } from './control.ts'
import { workspaceDocument } from './workspace.ts'

const emulated = service([library], serviceFacts)
const contract = { title: 'Library', version: '1' }
const host = { version: '1.0.0', contract, token: undefined }

const documents: Readonly<Record<string, (settings: Settings) => JsonObject>> = {
  control: (settings) => controlDocument(controlRoutes(emulated), settings, host),
  workspace: (settings) => workspaceDocument(emulated, settings, contract),
}

test.for(Object.entries(documents))(
  'the schemas of %s are created once for equal settings',
  ([, document]) => {
    const pathsWith = (bound: number) => document(new Settings({ 'shelves.name_bound': bound })).paths
    const first = pathsWith(7)
    expect(pathsWith(7)).toBe(first)
    expect(pathsWith(8)).not.toBe(first)
  },
)

test('with a control token a route can respond with 401, also after a document without a token', () => {
  const [settings, routes] = [new Settings(), controlRoutes(emulated)]
  const refusalsOf = (token: string | undefined) =>
    Object.keys(
      // biome-ignore lint/suspicious/noExplicitAny: OpenAPI documents are looked into at every depth.
      (controlDocument(routes, settings, { ...host, token }).paths as any)['/clock'].get.responses,
    )
  expect(refusalsOf(undefined)).not.toContain('401')
  expect(refusalsOf('secret')).toContain('401')
})
