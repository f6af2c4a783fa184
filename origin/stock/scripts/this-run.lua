-- The current run of this server; prepended to every script. A counter is valid only in the run it was loaded in. A
-- new run begins with every restart and every promotion: a master that was replaced and is master again may have
-- missed sales. (It also begins when the first replica connects, which costs one needless rebuild.)
local function thisRun()
  local info = redis.call('INFO', 'server', 'replication')
  return string.match(info, 'run_id:(%w+)') .. ' ' .. string.match(info, 'master_replid:(%w+)')
end

