import { expect, test } from 'vitest'
import { broken } from '../proof.ts'
import { s3 } from './s3-slowloris.ts'

test('S3 requests that never end do not block other clients', async () => {
  expect(broken(await s3.run('short', () => {}))).toEqual([])
})
