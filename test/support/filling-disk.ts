import { type Files, nodeFiles } from '../../src/adapters/storage/files.ts'

/** A disk on which, while `isFull`, no file can be created, or nothing can be written. */
export function fillingDisk(what: 'create' | 'write', isFull = false) {
  const disk = { isFull }
  const refuse = (): void => {
    if (disk.isFull) throw new Error('ENOSPC: no space')
  }
  const creating: Files = {
    ...nodeFiles,
    open: (path, how) => {
      if (how === 'wx') refuse()
      return nodeFiles.open(path, how)
    },
  }
  const writing: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      refuse()
      return nodeFiles.write(file, bytes, at)
    },
  }
  return Object.assign(disk, { files: what === 'create' ? creating : writing })
}
