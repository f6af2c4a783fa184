export * from '../loopback.ts'
