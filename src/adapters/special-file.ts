import { stat } from 'node:fs/promises'

/** Why a path is not read: a FIFO, a socket or a device can keep its reader waiting forever. Undefined for other paths. */
export async function specialFile(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  const is = (kind: string) => `is a ${kind}; only regular files are read`
  if (stats?.isFIFO()) return is('FIFO')
  if (stats?.isSocket()) return is('socket')
  return stats?.isCharacterDevice() || stats?.isBlockDevice() ? is('device') : undefined
}
