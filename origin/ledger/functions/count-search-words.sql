-- count_search_words: the trigger that keeps search_words, the words of all texts and in how many texts each is. Most
-- texts are new, and a change of a text, as by a charge, seldom changes its words.
create or replace function count_search_words() returns trigger language plpgsql as $$
declare
  v_before text[] := '{}';
  v_after text[] := '{}';
begin
  -- In one order, since several transactions count at the same time.
  if tg_op <> 'INSERT' then v_before := array(select word from search_words_of(old.words) order by word); end if;
  if tg_op <> 'DELETE' then v_after := array(select word from search_words_of(new.words) order by word); end if;
  if v_before = v_after then return null; end if;
  if v_after <> '{}' then
    insert into search_words as s (word, orders) select unnest(v_after), 1
      on conflict (word) do update set orders = s.orders + 1;
  end if;
  if v_before <> '{}' then
    update search_words set orders = orders - 1 where word = any(v_before);
    delete from search_words where word = any(v_before) and orders = 0;
  end if;
  return null;
end $$;
