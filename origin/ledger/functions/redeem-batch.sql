-- redeem_batch: lets visitors of one sale in by their invitations, several at once.
--
-- The arrays are parallel: the code's hash, the visitor, and the uses that a signed link brings along (null: only a
-- stored code counts). Returns a verdict each, in their order:
--   redeemed: the visitor is let in, now or before.
--   used_up: others have come in by it as often as it allows.
--   unknown: there is no such invitation.
-- Codes are locked in one order, so that batches of several origins cannot block each other.
create or replace function redeem_batch(p_sale text, p_hashes text[], p_visitors text[], p_uses int[])
returns text[] language plpgsql as $$
declare
  v_verdicts text[];
begin
  insert into invitations (sale_id, code_hash, uses, is_link)
    select distinct on (hash) p_sale, hash, uses, true from unnest(p_hashes, p_uses) as asked (hash, uses)
    where uses is not null order by hash
    on conflict do nothing;
  perform 1 from invitations where sale_id = p_sale and code_hash = any(p_hashes) order by code_hash for update;
  with asked as (
    select hash, visitor, min(place) as place
    from unnest(p_hashes, p_visitors) with ordinality as a (hash, visitor, place)
    group by hash, visitor
  ), entering as (
    select hash, visitor, row_number() over (partition by hash order by place) as nth
    from asked
    where not exists (
      select from invited_visitors v where v.sale_id = p_sale and v.code_hash = hash and v.visitor = asked.visitor)
  ), entered as (
    insert into invited_visitors (sale_id, code_hash, visitor)
    select p_sale, hash, visitor from entering join invitations i on i.sale_id = p_sale and i.code_hash = hash
    where i.used + nth <= i.uses
    returning code_hash
  )
  update invitations i set used = used + counted.many
    from (select code_hash, count(*) as many from entered group by code_hash) counted
    where i.sale_id = p_sale and i.code_hash = counted.code_hash;
  select array_agg(
      case when v.visitor is not null then 'redeemed' when i.code_hash is not null then 'used_up' else 'unknown' end
      order by place)
    into v_verdicts
    from unnest(p_hashes, p_visitors) with ordinality as a (hash, visitor, place)
    left join invitations i on i.sale_id = p_sale and i.code_hash = hash
    left join invited_visitors v on v.sale_id = p_sale and v.code_hash = hash and v.visitor = a.visitor;
  return v_verdicts;
end $$;
