import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from './api.ts'
import { Problem, Title } from './parts.tsx'

export function Files() {
  const client = useQueryClient()
  const files = useQuery({ queryKey: ['files'], queryFn: api.files })
  const upload = useMutation({
    mutationFn: api.upload,
    onSuccess: () => client.invalidateQueries({ queryKey: ['files'] }),
  })
  return (
    <>
      <Title
        more={
          <label className="button">
            {upload.isPending ? 'Uploading' : 'Upload'}
            <input
              type="file"
              aria-label="Upload"
              onChange={({ target }) => {
                const [file] = target.files ?? []
                if (file !== undefined) upload.mutate(file)
                target.value = ''
              }}
            />
          </label>
        }
      >
        Files
      </Title>
      <Problem error={upload.error} reason={upload.failureReason} />
      <Problem error={files.error} reason={files.failureReason} />
      <ul className="rows">
        {files.data?.data.map(({ id, name, kind, pages }) => (
          <li key={id}>
            <span>{name}</span>
            <small>{pages === null ? kind : `${kind}, ${pages} ${pages === 1 ? 'page' : 'pages'}`}</small>
          </li>
        ))}
      </ul>
    </>
  )
}
