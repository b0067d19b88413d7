import { testRandomRecordings } from './random-recordings.ts'

testRandomRecordings(50)
