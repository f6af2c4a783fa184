/**
 * A test process whose runner was killed would go on to the end of its tests, and keep its servers for as long. It
 * leaves at once instead; the warden of its servers (dev/warden.sh) does the rest.
 */
process.once('disconnect', () => process.exit(1))
