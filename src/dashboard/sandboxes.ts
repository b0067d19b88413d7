import { ask, type Output } from './api.ts'
import { sharedLive } from './loaded.tsx'

export type SandboxRow = Output<'GET /sandboxes'>['data'][number]

/** Whether a sandbox is open, not only on the disk. */
export const isOpenSandbox = (row: SandboxRow): row is Extract<SandboxRow, { readonly state: 'open' }> =>
  row.state === 'open'

const rankOf = (row: SandboxRow) => (row.name === 'default' ? 0 : isOpenSandbox(row) ? 1 : 2)

/** Every sandbox: the default one, then the open ones with the newest first, then those that are only on the disk. */
export const useSandboxes = sharedLive(async (): Promise<readonly SandboxRow[]> => {
  const { data } = await ask('GET /sandboxes')
  return data.toReversed().sort((a, b) => rankOf(a) - rankOf(b))
}, ['sandbox'])
