// Files: an example to change. A batch can use a file as soon as it is here.
import { defineEndpoint } from 'agent-workspace-emulator'

interface File {
  readonly teamspace_id: string
  readonly name: string
  readonly kind: string
  readonly pages: number | null
}

const shown = ({ id, name, kind, pages }: File & { readonly id: string }) => ({
  object: 'file',
  id,
  name,
  kind,
  pages,
})

export default [
  defineEndpoint({
    method: 'GET',
    path: '/files',
    summary: 'List the files of the teamspace, newest first',
    handle: ({ records, caller, list }) => ({
      body: list(records<File>('files').visibleTo(caller).toReversed().map(shown)),
    }),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/files',
    summary: 'Upload a file: its bytes are the body, its name is the header X-File-Name',
    accept: 'bytes',
    handle({ headers, body, records, caller, newId, refuse }) {
      const name = decodeURIComponent(headers['x-file-name'] ?? '')
      const { length } = body as Uint8Array
      if (name === '')
        return refuse(400, 'validation_failed', 'The header X-File-Name has the name of the file.')
      if (length === 0) return refuse(400, 'validation_failed', `The file "${name}" is empty.`)
      const kind = name.split('.').at(-1)?.toLowerCase() ?? 'file'
      const pages = kind === 'pdf' ? Math.ceil(length / 50_000) : null
      const file = records<File>('files').insert({
        id: newId(),
        teamspace_id: caller.teamspace_id,
        name,
        kind,
        pages,
      })
      return { status: 201, body: shown(file) }
    },
  }),
]
